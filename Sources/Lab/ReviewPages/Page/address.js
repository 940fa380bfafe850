// The fragment of the URL: `#d3` is a difference, and `#t=1.2` is a time. The prefix `#A-C` selects
// two takes.

/** Returns the fragment without `#`. */
function addressText() {
  const takes = state.one === 0 && state.other === 1 ? "" : `${one().letter}-${other().letter}`;
  const place = state.chosen >= 0 ? `d${state.chosen + 1}`
    : state.sought === null ? "" : `t=${Number(state.sought.toFixed(3))}`;
  return [takes, place].filter(Boolean).join("&");
}

let keeping = 0;

/** Updates the fragment. Browsers limit the number of changes per second. */
function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const text = addressText();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }, 200);
}

/** Shows the state in the fragment, without playback. */
async function followAddress() {
  const words = location.hash.slice(1).split("&").map((word) => word.match(/^(?:([A-Z]\d*)-([A-Z]\d*)|d(\d+)|t=([\d.]+))$/));
  if (!words.some(Boolean)) return;
  let takes = [0, 1];
  for (const [, first, second] of words.filter((word) => word?.[1])) {
    const found = [first, second].map((letter) => data.takes.findIndex((take) => take.letter === letter));
    if (!found.includes(-1) && found[0] !== found[1]) takes = found;
  }
  if (takes[0] !== state.one || takes[1] !== state.other) await setPair(...takes);
  for (const [, , , number, time] of words.filter(Boolean)) {
    if (number && findings()[number - 1]) showDifference(number - 1);
    if (!(Number(time) >= 0)) continue;
    seekTo(Number(time));
    const place = deck.position;
    const width = state.to - state.from;
    if (place < state.from || place > state.to) setView(place - width / 2, place + width / 2);
  }
}
