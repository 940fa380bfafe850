// Opens the module in the same way as a page.
import { readFileSync } from "node:fs";

export function open(path) {
  const { memory, create, _initialize, ...calls } = new WebAssembly.Instance(
    new WebAssembly.Module(readFileSync(path)), {}).exports;
  _initialize();
  const host = create();
  const exports = { memory };
  for (const name in calls) exports[name] = (...values) => calls[name](host, ...values);
  const put = (...parts) => {
    let address = exports.input(parts.reduce((sum, part) => sum + part.length, 0));
    return parts.flatMap((part) => {
      new Uint8Array(memory.buffer, address, part.length).set(part);
      address += part.length;
      return [address - part.length, part.length];
    });
  };
  const output = (count) => Buffer.from(memory.buffer.slice(exports.output(), exports.output() + count));
  const report = (name, slot = 0, profile = 0) =>
    output(exports.report(...put(Buffer.from(name)), slot, profile));
  return {
    exports,
    put,
    output,
    list: (name) => JSON.parse(report(name).toString()),
    message: () => output(exports.outputLength()).toString(),
    open: (slot, name, bytes) => exports.open(slot, ...put(Buffer.from(name), bytes)) === 1,
    text: (slot) => report("text", slot),
    render: (slot, profile, rate) => {
      const count = exports.render(slot, profile, rate);
      return Buffer.from(memory.buffer, exports.samples(), 4 * count);
    },
  };
}
