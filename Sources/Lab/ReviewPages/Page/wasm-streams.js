// Divides a WebAssembly module into streams of similar values, and joins them again. A compressor
// finds more repetitions in the streams, because equal instructions with different operands are
// equal in the stream of opcodes.
//
// A division is a list of numbers (LEB128): the length of the module, the count of streams, and the
// length of each stream. The streams follow. The first contains the sections of the module without
// its code. A local variable is written as the count of other variables of the function that were
// used since its last use (move to front), because functions use the same few variables.
//
// Source of the instructions: "WebAssembly Core Specification", W3C, chapter 5.4.

/** The streams by kind of value. */
const wasmStreams = {
  sections: 0, locals: 1, opcodes: 2, readLocals: 3, writtenLocals: 4, offsets: 5, integers: 6,
  longIntegers: 7, labels: 8, functions: 9, doubles: 10, others: 11,
};
const wasmStreamCount = 12;
/** The length of the magic number and version of a module. */
const wasmHeaderLength = 8;
const codeSectionID = 10;

/** A sequence of bytes with a position. It grows when it is written. */
class ByteSequence {
  constructor(bytes) {
    this.bytes = bytes;
    this.position = 0;
  }
  get isAtEnd() { return this.position >= this.bytes.length; }
  write(byte) {
    if (this.position === this.bytes.length) {
      const larger = new Uint8Array(2 * this.bytes.length + 64);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.position++] = byte;
  }
  writeAll(bytes) { for (const byte of bytes) this.write(byte); }
  read() { return this.bytes[this.position++]; }
  readNumber() {
    let [value, scale, byte] = [0, 1, 0];
    do {
      byte = this.read();
      value += (byte & 0x7F) * scale;
      scale *= 128;
    } while (byte & 0x80);
    return value;
  }
  writeNumber(value) {
    let remainder = value;
    while (remainder > 0x7F) {
      this.write(remainder & 0x7F | 0x80);
      remainder = Math.floor(remainder / 128);
    }
    this.write(remainder);
  }
  get written() { return this.bytes.subarray(0, this.position); }
}

/**
 * Copies the body of a function. `copy.byte(stream)` copies a byte and returns it,
 * `copy.number(stream)` copies a LEB128 number and returns it, and `copy.local(stream)` copies the
 * index of a local variable.
 */
function copyBody(copy) {
  const {
    locals, opcodes, readLocals, writtenLocals, offsets, integers, longIntegers, labels, functions,
    doubles, others,
  } = wasmStreams;
  const repeat = (count, stream) => {
    for (let index = 0; index < count; index++) copy.byte(stream);
  };
  const copyMemoryArgument = () => {
    // The opcode usually determines the alignment.
    copy.number(opcodes);
    copy.number(offsets);
  };
  copy.begin();
  for (let count = copy.number(locals); count > 0; count--) {
    copy.number(locals);
    copy.byte(locals);
  }
  for (let depth = 1; depth > 0;) {
    const opcode = copy.byte(opcodes);
    if (opcode === 0x0B) depth--;
    else if (opcode >= 0x02 && opcode <= 0x04) {
      copy.byte(opcodes);
      depth++;
    } else if (opcode === 0x20) copy.local(readLocals);
    else if (opcode === 0x21 || opcode === 0x22) copy.local(writtenLocals);
    else if (opcode >= 0x28 && opcode <= 0x3E) copyMemoryArgument();
    else if (opcode === 0x41) copy.number(integers);
    else if (opcode === 0x42) copy.number(longIntegers);
    else if (opcode === 0x0C || opcode === 0x0D) copy.number(labels);
    else if (opcode === 0x10) copy.number(functions);
    else if (opcode === 0x44) repeat(8, doubles);
    else if (opcode === 0x43) repeat(4, others);
    else if (opcode === 0x0E) {
      for (let count = copy.number(others); count >= 0; count--) copy.number(others);
    } else if (opcode === 0x11) {
      copy.number(others);
      copy.number(others);
    } else if (opcode === 0x1C) repeat(copy.number(others), others);
    else if (opcode === 0x23 || opcode === 0x24 || opcode === 0x3F || opcode === 0x40) {
      copy.number(others);
    } else if (opcode === 0xFC) {
      const operandCounts = { 8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1 };
      for (let count = operandCounts[copy.number(opcodes)] ?? 0; count > 0; count--) {
        copy.number(others);
      }
    } else if (opcode === 0xFD) {
      const vector = copy.number(opcodes);
      if (vector <= 11 || (vector >= 84 && vector <= 93)) copyMemoryArgument();
      if (vector === 12 || vector === 13) repeat(16, others);
      if ((vector >= 21 && vector <= 34) || (vector >= 84 && vector <= 91)) copy.byte(others);
    }
  }
}

/** Copies between a sequence and the streams. */
class StreamCopy {
  /**
   * @param {ByteSequence} sequence
   * @param {ByteSequence[]} streams
   * @param {boolean} isJoining True to copy from the streams to the sequence.
   */
  constructor(sequence, streams, isJoining) {
    this.isJoining = isJoining;
    this.sides = streams.map((stream) => (isJoining ? [stream, sequence] : [sequence, stream]));
  }
  begin() {
    /** The variables of the function, the last used first. */
    this.recent = [];
  }
  local(stream) {
    const { recent, isJoining } = this;
    const [source, target] = this.sides[stream];
    const number = source.readNumber();
    while (recent.length <= number) recent.push(recent.length);
    const index = isJoining ? number : recent.indexOf(number);
    const variable = recent[index];
    recent.copyWithin(1, 0, index);
    recent[0] = variable;
    target.writeNumber(isJoining ? variable : index);
  }
  byte(stream) {
    const [source, target] = this.sides[stream];
    const byte = source.read();
    target.write(byte);
    return byte;
  }
  number(stream) {
    let [value, scale, byte] = [0, 1, 0];
    do {
      byte = this.byte(stream);
      value += (byte & 0x7F) * scale;
      scale *= 128;
    } while (byte & 0x80);
    return value;
  }
}

/** Returns the division of a module. */
function dividedModule(bytes) {
  const source = new ByteSequence(bytes);
  const streams = Array.from(
    { length: wasmStreamCount }, () => new ByteSequence(new Uint8Array(64))
  );
  const copy = new StreamCopy(source, streams, false);
  const sections = streams[wasmStreams.sections];
  sections.writeAll(bytes.subarray(0, wasmHeaderLength));
  source.position = wasmHeaderLength;
  while (!source.isAtEnd) {
    const id = source.read();
    const end = source.readNumber() + source.position;
    sections.write(id);
    if (id === codeSectionID) {
      let count = source.readNumber();
      for (sections.writeNumber(count); count > 0; count--) {
        source.readNumber();
        copyBody(copy);
      }
    } else {
      sections.writeNumber(end - source.position);
      sections.writeAll(bytes.subarray(source.position, end));
      source.position = end;
    }
  }
  const division = new ByteSequence(new Uint8Array(bytes.length));
  division.writeNumber(bytes.length);
  division.writeNumber(wasmStreamCount);
  for (const stream of streams) division.writeNumber(stream.position);
  for (const stream of streams) division.writeAll(stream.written);
  return division.written;
}

/** Returns the module of a division. */
function joinedModule(division) {
  const source = new ByteSequence(division);
  const length = source.readNumber();
  const lengths = Array.from({ length: source.readNumber() }, () => source.readNumber());
  const streams = lengths.map((count) => {
    const start = source.position;
    source.position += count;
    return new ByteSequence(division.subarray(start, source.position));
  });
  const sections = streams[wasmStreams.sections];
  const module = new ByteSequence(new Uint8Array(length));
  const body = new ByteSequence(new Uint8Array(1 << 16));
  const copy = new StreamCopy(body, streams, true);
  module.writeAll(sections.bytes.subarray(0, wasmHeaderLength));
  sections.position = wasmHeaderLength;
  while (!sections.isAtEnd) {
    const id = sections.read();
    module.write(id);
    const count = sections.readNumber();
    if (id === codeSectionID) {
      const code = new ByteSequence(new Uint8Array(length));
      code.writeNumber(count);
      for (let index = 0; index < count; index++) {
        body.position = 0;
        copyBody(copy);
        code.writeNumber(body.position);
        code.writeAll(body.written);
      }
      module.writeNumber(code.position);
      module.writeAll(code.written);
    } else {
      module.writeNumber(count);
      module.writeAll(sections.bytes.subarray(sections.position, sections.position + count));
      sections.position += count;
    }
  }
  return module.written;
}
