// All is declared: draw.
readColors();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColors();
  redraw();
});
addEventListener("resize", resize);
resize();
follow();
