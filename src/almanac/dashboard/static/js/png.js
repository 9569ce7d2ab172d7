// Saves a picture of the server, an SVG file, as PNG: twice its size, for slides and messages.

const SCALE = 2;

/** Asks for the SVG at an address and hands the reader a PNG of it. Throws where it cannot be had or drawn. */
export async function savePng(address) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((give) => canvas.toBlob(give, "image/png"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "comparison.png";
  link.click();
  URL.revokeObjectURL(link.href);
}
