// Tables as CSV.

/** Returns rows as CSV, as in RFC 4180. */
function csvText(rows) {
  const cell = (value) => (
    /[",\r\n]/.test(value) ? `"${String(value).replaceAll("\"", "\"\"")}"` : String(value)
  );
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
