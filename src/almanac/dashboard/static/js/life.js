// Plays a figure's life: goes from one of its states to the next, by a slider or by itself. The chart is read as by keys.

const holder = document.querySelector("[data-life]");
if (holder) begin();

function begin() {
  const range = holder.querySelector("input");
  const button = holder.querySelector("button");
  const plot = document.querySelector("#life .plotted");
  const rows = [...document.querySelectorAll("#states tbody tr")];
  let playing;

  function press(key) {
    plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  }

  function show() {
    const place = Number(range.value);
    press("Home");
    for (let step = 0; step < place; step++) press("ArrowRight");
    rows.forEach((row, number) => row.classList.toggle("chosen", number === place));
    range.setAttribute("aria-valuetext", rows[place].innerText.replaceAll("\t", ", "));
  }

  function stop() {
    clearInterval(playing);
    playing = undefined;
    button.firstChild.data = "Play";
  }

  range.addEventListener("input", () => {
    stop();
    show();
  });
  button.addEventListener("click", () => {
    if (playing) return stop();
    if (range.value === range.max) range.value = "0";
    show();
    button.firstChild.data = "Stop";
    playing = setInterval(() => {
      if (range.value === range.max) return stop();
      range.value = Number(range.value) + 1;
      show();
    }, 900);
  });
}
