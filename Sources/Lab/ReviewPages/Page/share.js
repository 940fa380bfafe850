// The exports of a report: links, the list as Markdown and CSV, and the figure as SVG and PNG.

/** Returns the result of the comparison in one line. */
function resultText() {
  const all = findings();
  const clear = all.filter((finding) => finding.significance >= 1).length;
  if (!all.length) return "No difference";
  return `${counted(clear, "perceptible difference")}${clear < all.length ? `, ${all.length - clear} below the threshold` : ""}`;
}

/** Returns the list of differences in Markdown, for a pull request or a chat. */
function listAsMarkdown() {
  const cell = (text) => String(text).replace(/[\\|`*_<]/g, "\\$&").replace(/\s+/g, " ");
  const rows = findings().map(({ title, detail, amount, when, significance }, index) =>
    `| ${[index + 1, cell(title) + (detail ? `: ${cell(detail)}` : ""), cell(amount), cell(when), factorText(significance)]
      .join(" | ")} |\n`);
  const takes = [firstTake(), secondTake()].map(({ letter, name, origin }) =>
    `${letter} ${cell(name)}${origin ? ` (SHA-256 ${origin.sha256.slice(0, 8)})` : ""}`);
  const limits = pair().excesses
    ? `${toleranceText()}${pair().excesses.map((line) => `\n- ${cell(line)}`).join("")}\n\n`
    : "";
  return `**${cell(pair().summary)}** ${resultText()}: ${takes.join(", ")}.\n\n${limits}`
    + (
      rows.length
        ? `| # | difference | change | time | perceptibility |\n| --- | --- | --- | --- | --- |\n${rows.join("")}`
        : ""
    );
}

/** Returns the list of differences as CSV. Times are in seconds of the first take. */
function listAsCSV() {
  const rows = findings().map((each, index) => [
    index
      + 1, each.kind, each.title, each.detail, each.amount, each.start, each.end, each.significance,
  ]);
  const columns = [
    "number", "kind", "difference", "detail", "change", "start", "end", "perceptibility",
  ];
  return csvText([columns, ...rows]);
}

/** The computed style properties of a shape that an SVG file must state. */
const shapeProperties = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "display", "font-size", "font-weight",
  "font-family", "shape-rendering",
];

/** Returns the figure with its marks as an SVG file. */
function pictureAsSVG() {
  const shown = find("#picture svg");
  const copy = shown.cloneNode(true);
  const shapes = [...shown.querySelectorAll("path, line, circle, text, tspan")];
  [...copy.querySelectorAll("path, line, circle, text, tspan")].forEach((shape, index) => {
    const style = getComputedStyle(shapes[index]);
    for (const name of shapeProperties) shape.setAttribute(name, style.getPropertyValue(name));
  });
  const [paper, ink, muted] = ["--surface", "--ink", "--muted"].map((name) =>
    getComputedStyle(document.body).getPropertyValue(name).trim());
  const { width, height, rail, box, lanes } = stage;
  const canvas = find("canvas.spectrum");
  const raster = canvas
    ? `<image href="${canvas.toDataURL()}" x="${box.left}" y="${lanes[0][0]}" width="${box.width}" `
    + `height="${lanes[0][1] - lanes[0][0]}" preserveAspectRatio="none"/>` : "";
  const marks = findAll("#rail .bracket").map(({ offsetLeft, offsetTop, offsetWidth }) =>
    `<rect x="${offsetLeft}" y="${offsetTop}" width="${offsetWidth}" height="3" fill="${muted}"/>`).join("")
    + findAll("#rail .mark").map((mark) => {
      const x = parseFloat(mark.style.left);
      const isLow = mark.classList.contains("low");
      return `<circle cx="${x}" cy="16" r="11" fill="${isLow ? paper : ink}" stroke="${isLow ? muted : paper}"/>`
        + `<text x="${x}" y="20" text-anchor="middle" font-family="sans-serif" font-size="12" font-weight="700" `
        + `fill="${isLow ? muted : paper}">${mark.textContent}</text>`;
    }).join("");
  const title = escaped(
    `${firstTake().letter} ${firstTake().name}, ${secondTake().letter} ${secondTake().name}`
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + rail + 24}" `
    + `viewBox="0 0 ${width} ${height + rail + 24}"><title>${title}</title>`
    + `<rect width="100%" height="100%" fill="${paper}"/><text x="${box.left}" y="16" font-family="sans-serif" font-size="12" `
    + `font-weight="600" fill="${ink}">${title}</text><g transform="translate(0 24)">${marks}<g transform="translate(0 ${rail})">`
    + `${raster}${copy.innerHTML}</g></g></svg>`;
}

/** Returns the figure as a PNG image, at twice the resolution of the page. */
async function pictureAsPNG() {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(pictureAsSVG())}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

/** The actions of the buttons in the share dialog. */
const shares = {
  link: () => {
    const text = addressText();
    copyText(`${location.href.split("#")[0]}${text ? `#${text}` : ""}`, "Link copied.");
  },
  markdown: () => copyText(listAsMarkdown(), "List copied as Markdown."),
  csv: () => saveFile("differences.csv", "text/csv", listAsCSV()),
  svg: () => saveFile("comparison.svg", "image/svg+xml", pictureAsSVG()),
  png: async () => saveFile("comparison.png", "image/png", await pictureAsPNG()),
  studio: () => openStudio(studioTexts()),
};

/** Returns the source texts of the two takes that are patterns, with their names. */
function studioTexts() {
  return [firstTake(), secondTake()].map(
    (take) => [
      take.origin?.path.split("/").at(-1) ?? `${take.name}.ahap`, sourceOf(data.takes.indexOf(take))
    ]
  )
    .filter(([, text]) => text !== null);
}

/** Connects the buttons of the share dialog. */
function connectShares() {
  const dialog = find("#share-dialog");
  find("#share").addEventListener("click", () => dialog.showModal());
  find("[data-share=studio]", dialog).hidden = !data.studio || !studioTexts().length;
  for (const button of findAll("[data-share]", dialog)) {
    button.addEventListener("click", () => shares[button.dataset.share]());
  }
}
