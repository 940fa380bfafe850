// Unpacks the module and the scripts of the page. They are compressed with LZMA, which finds
// repetitions over their whole length, and written with 91 characters, two for 13 bits. The module
// is divided into streams first (`wasm-streams.js`).
//
// Format: "LZMA specification (draft version)", Igor Pavlov, 2015. A file has a header of 13 bytes
// (literal and position bits, dictionary size, output size) and a range-coded stream. The stream
// codes literals and matches, which copy bytes of the output. Each binary decision has an adaptive
// probability, which its context selects.

/**
 * The code of the first character of dense text. `<` is omitted, because it could end an element.
 */
const firstDenseCode = 0x21;
const denseRadix = 91;
const denseBits = 13;

/** Returns the bytes of a dense text, followed by at most one zero byte. */
function bytesOfDense(text) {
  const digit = (index) => {
    const code = text.charCodeAt(index);
    return code - firstDenseCode - (code > 0x3C ? 1 : 0);
  };
  const bytes = new Uint8Array(Math.floor(text.length / 2 * denseBits / 8));
  let [length, bits, count] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 2) {
    bits |= (digit(index) + denseRadix * digit(index + 1)) << count;
    count += denseBits;
    for (; count >= 8; count -= 8) {
      bytes[length++] = bits & 0xFF;
      bits >>>= 8;
    }
  }
  return bytes;
}

/** Returns bytes as a dense text. */
function denseOfBytes(bytes) {
  const codes = new Uint8Array(2 * Math.ceil(8 * bytes.length / denseBits));
  let [length, bits, count] = [0, 0, 0];
  const add = (digit) => {
    const code = firstDenseCode + digit;
    codes[length++] = code < 0x3C ? code : code + 1;
  };
  const addPair = () => {
    const value = bits & (1 << denseBits) - 1;
    add(value % denseRadix);
    add(Math.floor(value / denseRadix));
    bits >>>= denseBits;
    count -= denseBits;
  };
  for (const byte of bytes) {
    bits |= byte << count;
    count += 8;
    if (count >= denseBits) addPair();
  }
  if (count > 0) addPair();
  return new TextDecoder().decode(codes);
}

/** The number of bits of a probability, and the shift by which it adapts. */
const probabilityBits = 11;
const adaptationShift = 5;
/** The range below which the decoder reads the next byte of the stream. */
const minimumRange = 2 ** 24;

/** A decoder of the binary decisions of a range-coded stream. */
class RangeDecoder {
  constructor(bytes, start) {
    this.bytes = bytes;
    // The first byte of a stream is 0.
    this.next = start + 1;
    this.range = 0xFFFFFFFF;
    this.code = 0;
    for (let count = 0; count < 4; count++) this.code = (this.code << 8 | this.bytes[this.next++]) >>> 0;
  }

  refill() {
    if (this.range >= minimumRange) return;
    this.range = this.range << 8 >>> 0;
    this.code = (this.code << 8 | this.bytes[this.next++]) >>> 0;
  }

  /** Decodes a bit with the probability at an index of a table. The probability adapts. */
  bit(table, index) {
    const probability = table[index];
    const bound = (this.range >>> probabilityBits) * probability;
    const isOne = this.code >= bound;
    if (isOne) {
      this.range -= bound;
      this.code -= bound;
      table[index] -= probability >> adaptationShift;
    } else {
      this.range = bound;
      table[index] += (1 << probabilityBits) - probability >> adaptationShift;
    }
    this.refill();
    return isOne ? 1 : 0;
  }

  /** Decodes bits that are equally probable, the most significant first. */
  uniformBits(count) {
    let value = 0;
    for (; count > 0; count--) {
      this.range >>>= 1;
      const isOne = this.code >= this.range;
      if (isOne) this.code -= this.range;
      value = 2 * value + (isOne ? 1 : 0);
      this.refill();
    }
    return value;
  }

  /** Decodes a number by a binary tree of probabilities, the most significant bit first. */
  number(table, offset, bits) {
    let node = 1;
    while (node < 1 << bits) node = node << 1 | this.bit(table, offset + node);
    return node - (1 << bits);
  }

  /** Decodes a number by a binary tree of probabilities, the least significant bit first. */
  reversedNumber(table, offset, bits) {
    let [node, value] = [1, 0];
    for (let position = 0; position < bits; position++) {
      const bit = this.bit(table, offset + node);
      node = node << 1 | bit;
      value |= bit << position;
    }
    return value;
  }
}

const evenProbabilities = (count) => new Uint16Array(count).fill(1 << probabilityBits - 1);

/** A decoder of the lengths of matches, which are 2–9, 10–17 or 18–273. */
class LengthDecoder {
  constructor() {
    this.choices = evenProbabilities(2);
    this.short = evenProbabilities(16 << 3);
    this.middle = evenProbabilities(16 << 3);
    this.long = evenProbabilities(1 << 8);
  }

  decode(decoder, positionState) {
    if (!decoder.bit(this.choices, 0)) return 2 + decoder.number(this.short, positionState << 3, 3);
    if (!decoder.bit(this.choices, 1)) return 10 + decoder.number(this.middle, positionState << 3, 3);
    return 18 + decoder.number(this.long, 0, 8);
  }
}

/** A decoder of the distances of new matches. */
class DistanceDecoder {
  constructor() {
    this.slots = evenProbabilities(4 << 6);
    this.lowBits = evenProbabilities(128);
    this.alignment = evenProbabilities(16);
  }

  /**
   * Returns a distance minus 1. Its slot determines its two leading bits and its number of bits.
   */
  decode(decoder, length) {
    const slot = decoder.number(this.slots, Math.min(length - 2, 3) << 6, 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const base = (2 | slot & 1) * 2 ** count;
    if (slot < 14) return base + decoder.reversedNumber(this.lowBits, base - slot, count);
    const high = decoder.uniformBits(count - 4);
    return base + 16 * high + decoder.reversedNumber(this.alignment, 0, 4);
  }
}

/** The distance that marks the end of a stream. */
const endDistance = 0xFFFFFFFF;

/** Returns the contents of an LZMA file. The header of the file must state their size. */
function unpackedLZMA(packed) {
  const contextBits = packed[0] % 9;
  const literalPositionMask = (1 << Math.floor(packed[0] / 9) % 5) - 1;
  const positionMask = (1 << Math.floor(packed[0] / 45)) - 1;
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const output = new Uint8Array(view.getUint32(5, true));
  const decoder = new RangeDecoder(packed, 13);

  const literals = evenProbabilities(0x300 * (literalPositionMask + 1) << contextBits);
  const isMatch = evenProbabilities(12 << 4);
  const isRepeat = evenProbabilities(12);
  const isOtherRepeat = evenProbabilities(12);
  const isLongRepeat = evenProbabilities(12 << 4);
  const isThirdOrFourth = evenProbabilities(12);
  const isFourth = evenProbabilities(12);
  const [newLengths, repeatLengths] = [new LengthDecoder(), new LengthDecoder()];
  const newDistances = new DistanceDecoder();
  /** The last four distances, minus 1. */
  const distances = [0, 0, 0, 0];
  /** The kinds of the last packets: 0–6 after a literal, 7–11 after a match. */
  let state = 0;
  let position = 0;

  function readLiteral() {
    const previous = position > 0 ? output[position - 1] : 0;
    const offset = 0x300
      * (((position & literalPositionMask) << contextBits) + (previous >> 8 - contextBits));
    let symbol = 1;
    if (state >= 7) {
      // After a match, the byte at the last distance is a prediction until it fails.
      let predicted = output[position - distances[0] - 1];
      let isPredicted = true;
      while (symbol < 0x100 && isPredicted) {
        const expected = predicted >> 7 & 1;
        predicted <<= 1;
        const bit = decoder.bit(literals, offset + (1 + expected << 8) + symbol);
        symbol = symbol << 1 | bit;
        isPredicted = bit === expected;
      }
    }
    while (symbol < 0x100) symbol = symbol << 1 | decoder.bit(literals, offset + symbol);
    output[position++] = symbol;
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  }

  /** Moves one of the last distances to the front. */
  function selectDistance() {
    let index = 1;
    if (decoder.bit(isThirdOrFourth, state)) index = decoder.bit(isFourth, state) ? 3 : 2;
    distances.unshift(...distances.splice(index, 1));
  }

  /** Reads a match, and returns its length, or 0 at the end of the stream. */
  function readMatch(positionState) {
    if (!decoder.bit(isRepeat, state)) {
      const length = newLengths.decode(decoder, positionState);
      distances.unshift(newDistances.decode(decoder, length));
      distances.pop();
      state = state < 7 ? 7 : 10;
      return distances[0] === endDistance ? 0 : length;
    }
    if (decoder.bit(isOtherRepeat, state)) {
      selectDistance();
    } else if (!decoder.bit(isLongRepeat, (state << 4) + positionState)) {
      state = state < 7 ? 9 : 11;
      return 1;
    }
    const length = repeatLengths.decode(decoder, positionState);
    state = state < 7 ? 8 : 11;
    return length;
  }

  while (position < output.length) {
    const positionState = position & positionMask;
    if (!decoder.bit(isMatch, (state << 4) + positionState)) {
      readLiteral();
      continue;
    }
    const length = readMatch(positionState);
    const source = position - distances[0] - 1;
    if (!length || source < 0) throw new Error("its module is damaged");
    for (let index = 0; index < length; index++) output[position + index] = output[source + index];
    position += length;
  }
  return output;
}
