// The fragment of the URL selects a part of the page. `#d3` is a difference, and `#t=1.2` is a
// time.
// The prefix `#A-C` selects two takes.

/** Returns the fragment without `#`. */
function addressText() {
  const takes = state.one === 0 && state.other === 1
    ? ""
    : `${firstTake().letter}-${secondTake().letter}`;
  const target = state.chosen >= 0 ? `d${state.chosen + 1}`
    : state.sought === null ? "" : `t=${Number(state.sought.toFixed(3))}`;
  return [takes, target].filter(Boolean).join("&");
}

let keeping = 0;

/** Updates the fragment. The number of updates per second is limited, because browsers limit it. */
function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => {
    const text = addressText();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }, 200);
}

/** Applies the state in the fragment to the page, without starting playback. */
async function followAddress() {
  const words = location.hash.slice(1).split("&").map(
    (word) => word.match(/^(?:([A-Z]\d*)-([A-Z]\d*)|d(\d+)|t=([\d.]+))$/)
  );
  if (!words.some(Boolean)) return;
  let takes = [0, 1];
  for (const [, first, second] of words.filter((word) => word?.[1])) {
    const indices = [first, second].map(
      (letter) => data.takes.findIndex((take) => take.letter === letter)
    );
    if (!indices.includes(-1) && indices[0] !== indices[1]) takes = indices;
  }
  if (takes[0] !== state.one || takes[1] !== state.other) await setPair(...takes);
  for (const [, , , number, time] of words.filter(Boolean)) {
    if (number && findings()[number - 1]) showDifference(number - 1);
    if (!(Number(time) >= 0)) continue;
    seekTo(Number(time));
    const position = deck.position;
    const width = state.to - state.from;
    if (position < state.from || position > state.to) {
      setView(position - width / 2, position + width / 2);
    }
  }
}
