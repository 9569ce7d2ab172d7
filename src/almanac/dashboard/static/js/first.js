// A key that was just made: says when its first request was received.

const SECONDS = 2;
const MOST = 300;
const line = document.querySelector("[data-used]");

async function look(times) {
  try {
    const answer = await fetch(line.dataset.used);
    // Signed out meanwhile, or the key is gone: there is nothing to wait for.
    if (!answer.ok || answer.redirected) return void (line.hidden = true);
    if ((await answer.json()).used) return void (line.textContent = "Your first request was received.");
  } catch {
    // The next look may reach the host again.
  }
  if (times < MOST) setTimeout(look, SECONDS * 1000, times + 1);
  else line.textContent = "No request has come within ten minutes. The list of keys tells when each was last used.";
}

if (line) look(1);
