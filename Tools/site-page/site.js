// The search: sections of all pages, each [title of the page, address, heading, text]. Works without a server.
const root = document.documentElement.dataset.root
const field = document.getElementById("query")
const found = document.getElementById("found")
const lower = sections.map(([title, , heading, text]) => [title, heading, text].map(part => part.toLowerCase()))

/** The sections that hold all words, those with words in their titles and headings first. */
function search(words) {
  const hits = []
  lower.forEach(([title, heading, text], index) => {
    let points = 0
    for (const word of words) {
      const point = heading.includes(word) ? 8 : title.includes(word) ? 4 : text.includes(word) ? 1 : 0
      if (point === 0) return
      points += point
    }
    hits.push({ index, points })
  })
  return hits.sort((a, b) => b.points - a.points || a.index - b.index).slice(0, 12)
}

/** The text around the first of some words, which is marked. */
function excerpt(text, words) {
  const places = words.map(word => text.toLowerCase().indexOf(word)).filter(place => place >= 0)
  const line = document.createElement("span")
  if (places.length === 0) { line.textContent = text.slice(0, 140); return line }
  const place = Math.min(...places)
  const word = words.find(word => text.toLowerCase().startsWith(word, place))
  const mark = document.createElement("mark")
  mark.textContent = text.slice(place, place + word.length)
  const start = Math.max(0, place - 60)
  line.append((start > 0 ? "…" : "") + text.slice(start, place), mark, text.slice(place + word.length, place + 100))
  return line
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  const hits = words.length > 0 ? search(words) : []
  found.hidden = words.length === 0
  found.replaceChildren(...hits.map(({ index }) => {
    const [title, address, heading, text] = sections[index]
    const link = document.createElement("a")
    const name = document.createElement("b")
    link.href = root + address
    name.textContent = heading === title ? title : `${title}: ${heading}`
    link.append(name, excerpt(text, words))
    return link
  }))
  if (hits.length === 0) {
    const none = document.createElement("p")
    none.textContent = "No article has all of these words."
    found.append(none)
  }
  document.getElementById("status").textContent = words.length > 0 ? `${hits.length} results` : ""
}

document.querySelector(".find").hidden = false
field.addEventListener("input", show)
field.addEventListener("focus", show)
document.addEventListener("click", event => { if (!event.target.closest(".find")) found.hidden = true })
document.addEventListener("keydown", event => {
  const inside = event.target.closest?.(".find")
  if (event.key === "/" && !event.target.matches("input, select, textarea")) {
    event.preventDefault()
    field.focus()
  } else if (event.key === "Escape" && inside) {
    found.hidden = true
    field.focus()
    field.select()
  } else if (event.key === "Enter" && event.target === field) {
    found.querySelector("a")?.click()
  } else if (inside && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault()
    const row = [field, ...found.querySelectorAll("a")]
    const next = row.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)
    row[Math.min(Math.max(next, 0), row.length - 1)].focus({ focusVisible: true })
  }
})

// One sample plays at a time.
document.addEventListener("play", event => {
  for (const other of document.querySelectorAll("audio")) if (other !== event.target) other.pause()
}, true)
