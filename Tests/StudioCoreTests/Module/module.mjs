// Opens the module as a page does.
import { readFileSync } from "node:fs";

export function open(path) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)), {});
  exports._initialize();
  const put = (...parts) => {
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
    const place = exports.input(bytes.length);
    new Uint8Array(exports.memory.buffer, place, bytes.length).set(bytes);
    return bytes.length;
  };
  const taken = (count) => Buffer.from(exports.memory.buffer.slice(exports.output(), exports.output() + count));
  return {
    exports,
    put,
    taken,
    json: (count) => JSON.parse(taken(count).toString()),
    message: () => taken(exports.outputLength()).toString(),
    open: (slot, name, bytes) => {
      put(Buffer.from(name), bytes);
      return exports.open(slot, Buffer.byteLength(name), bytes.length) === 1;
    },
    text: (slot) => taken(exports.text(slot)),
    render: (slot, profile, rate) => {
      const count = exports.render(slot, profile, rate);
      return Buffer.from(exports.memory.buffer, exports.samples(), 4 * count);
    },
  };
}
