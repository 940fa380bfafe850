// The spectrograms of two takes in one panel.
// Gray is the common level, and the color of a take is its excess.

/** The length of the analysis window in seconds, which the figure shows. */
const windowSeconds = 0.064;
/** The number of rows of the spectrogram. */
const spectrumRows = 110;
/** The range of levels that the spectrogram shows, in decibels. */
const spectrumRange = 60;
/** The minimum frequency of the spectrogram's axis, in hertz. */
const minimumHertz = 40;

/** Returns the maximum frequency of the spectrogram's axis, in hertz. */
const maximumHertz = () => (output === 1 ? 1200 : 500);

const spectra = new Map();

/**
 * Returns the normalized levels 0…1 of a take in a lane, column by column, on the frequency axis.
 * Of several channels, the strongest counts.
 */
async function spectrumOf(take, names, lane) {
  const id = soundId(take, output);
  const buffer = await soundOf(id);
  const only = channelOf(data.takes[take], buffer, names, lane);
  const key = `${id} ${only} ${maximumHertz()}`;
  if (spectra.has(key)) return spectra.get(key);
  const all = channelsOf(buffer, only).map((samples) => spectrumOfChannel(buffer, samples));
  const spectrum = all[0];
  for (const { levels } of all.slice(1)) {
    levels.forEach((level, index) => {
      spectrum.levels[index] = Math.max(spectrum.levels[index], level);
    });
  }
  spectra.set(key, spectrum);
  return spectrum;
}

function spectrumOfChannel(buffer, samples) {
  const top = maximumHertz();
  const rate = buffer.sampleRate;
  const size = Math.round(windowSeconds * rate);
  const columns = Math.min(4000, Math.max(1, Math.ceil(samples.length / (0.006 * rate))));
  const hop = Math.max(1, samples.length / columns);
  const length = 2 ** Math.ceil(Math.log2(size * 8));
  const transform = new FourierTransform(length);
  const window = Float32Array.from(
    { length: size }, (_, index) => 0.5 - 0.5 * Math.cos(2 * Math.PI * index / size));
  const levels = new Float32Array(columns * spectrumRows);
  for (let column = 0; column < columns; column++) {
    const start = Math.round(column * hop - size / 2);
    const magnitudes = transform.magnitudes(
      (index) => (index < size ? (samples[start + index] ?? 0) * window[index] : 0));
    for (let row = 0; row < spectrumRows; row++) {
      const hertz = minimumHertz * (top / minimumHertz) ** (row / (spectrumRows - 1));
      const fractionalBin = hertz / rate * length;
      const below = Math.floor(fractionalBin);
      const fraction = fractionalBin - below;
      const magnitude = magnitudes(below) * (1 - fraction) + magnitudes(below + 1) * fraction;
      const decibels = 20 * Math.log10(magnitude * 4 / size + 1e-9);
      levels[column * spectrumRows + row] = clamp(decibels / spectrumRange + 1, 0, 1);
    }
  }
  return { levels, columns, secondsPerColumn: hop / rate };
}

/** A fast Fourier transform of real numbers (Cooley and Tukey, radix 2, in place). */
class FourierTransform {
  constructor(length) {
    this.length = length;
    this.real = new Float64Array(length);
    this.imaginary = new Float64Array(length);
    this.cosines = Float64Array.from(
      { length: length / 2 }, (_, k) => Math.cos(2 * Math.PI * k / length)
    );
    this.sines = Float64Array.from(
      { length: length / 2 }, (_, k) => -Math.sin(2 * Math.PI * k / length)
    );
  }

  /** Transforms `sample(index)`, and returns a function of the magnitude of a bin. */
  magnitudes(sample) {
    const { length, real, imaginary } = this;
    for (let index = 0, reversed = 0; index < length; index++) {
      real[reversed] = sample(index);
      imaginary[reversed] = 0;
      let bit = length >> 1;
      for (; reversed & bit; bit >>= 1) reversed ^= bit;
      reversed |= bit;
    }
    for (let size = 2; size <= length; size <<= 1) this.join(size);
    return (bin) => Math.hypot(real[bin], imaginary[bin]);
  }

  join(size) {
    const { length, real, imaginary, cosines, sines } = this;
    const half = size / 2;
    const step = length / size;
    for (let start = 0; start < length; start += size) {
      for (let k = 0; k < half; k++) {
        const [low, high] = [start + k, start + k + half];
        const cosine = cosines[k * step];
        const sine = sines[k * step];
        const x = real[high] * cosine - imaginary[high] * sine;
        const y = real[high] * sine + imaginary[high] * cosine;
        real[high] = real[low] - x;
        imaginary[high] = imaginary[low] - y;
        real[low] += x;
        imaginary[low] += y;
      }
    }
  }
}

/** Returns the components of a color that the style sheet defines. */
function colorParts(name) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = getComputedStyle(document.body).getPropertyValue(name).trim();
  return [1, 3, 5].map((start) => parseInt(context.fillStyle.slice(start, start + 2), 16));
}

/**
 * Returns the axes of the spectrograms, and canvases with both takes: a lane for each body location.
 */
async function drawSpectrograms({ box, names, lanes }) {
  const pairs = await Promise.all(names.map((_, lane) => Promise.all(
    [state.one, state.other].map((take) => spectrumOf(take, names, lane)))));
  const contents = timeLabels(box, lanes) + lanes.map(
    (lane, index) => spectrogramAxes(box, lane, soundSuffix(names, index))).join("");
  const canvases = pairs.map(([first, second], index) => {
    const [top, bottom] = lanes[index];
    return spectrumCanvas(first, second, { box, top, bottom });
  });
  return { contents, canvases };
}

/** Returns the axes of a spectrogram. */
function spectrogramAxes(box, [top, bottom], suffix) {
  const highest = maximumHertz();
  const right = box.left + box.width;
  const y = (hertz) =>
    bottom - Math.log(hertz / minimumHertz) / Math.log(highest / minimumHertz) * (bottom - top);
  let contents = "";
  for (const hertz of [50, 100, 200, 400, 800].filter((each) => each < highest)) {
    contents += label(box.left - 8, y(hertz) + 4, String(hertz), "end")
      + line("axis", box.left - 4, box.left, y(hertz), y(hertz));
  }
  const isOfPatterns = firstTake().events && secondTake().events;
  const { low, high } = data.profile.continuous;
  // The band of the profile does not apply to small speakers and recordings.
  for (const hertz of output === 0 && isOfPatterns ? [low, high] : []) {
    contents += line("band-line", box.left, right, y(hertz), y(hertz))
      + label(right + 8, y(hertz) + 4, hertzText(hertz));
  }
  contents += laneTitle(
    box.left,
    top - 7,
    `Spectrogram: ${outputs[output].name}${suffix}`,
    `Hz, ${spectrumRange} dB, both on one scale`
  );
  const width = Math.min(box.width, box.width / (state.to - state.from) * windowSeconds);
  return contents + path("window", `M${px(right - width)} ${top - 13}v5h${px(width)}v-5`)
    + label(right - width - 6, top - 7, "window 64 ms", "end")
    + line("axis", box.left, right, bottom, bottom);
}

function spectrumCanvas(first, second, { box, top, bottom }) {
  const canvas = document.createElement("canvas");
  canvas.className = "spectrum";
  const width = canvas.width = Math.max(1, Math.round(box.width));
  canvas.height = spectrumRows;
  Object.assign(canvas.style, {
    left: `${box.left}px`, top: `${top}px`, width: `${box.width}px`, height: `${bottom - top}px`,
  });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, spectrumRows);
  const [paper, grey, a, b] = ["--surface", "--equal-line", ...[state.one, state.other]
    .map((take) => `--${"abcd"[take % 4]}`)].map(colorParts);
  const { shift } = pair();
  for (let x = 0; x < width; x++) {
    const time = state.from + (x + 0.5) / width * (state.to - state.from);
    const columns = [[first, time], [second, time + shift]].map(([spectrum, seconds]) => {
      const column = Math.round(seconds / spectrum.secondsPerColumn);
      return column >= 0 && column < spectrum.columns ? column * spectrumRows : -1;
    });
    for (let row = 0; row < spectrumRows; row++) {
      const one = columns[0] < 0 ? 0 : first.levels[columns[0] + row];
      const two = columns[1] < 0 ? 0 : second.levels[columns[1] + row];
      const excess = clamp((Math.abs(one - two) - 0.035) * 2.6, 0, 0.95);
      const shared = Math.min(one, two) ** 1.2 * 0.92;
      const pixel = 4 * ((spectrumRows - 1 - row) * width + x);
      for (let part = 0; part < 3; part++) {
        const base = paper[part] + (grey[part] - paper[part]) * shared;
        image.data[pixel + part] = base + ((one > two ? a : b)[part] - base) * excess;
      }
      image.data[pixel + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
