// Packs and unpacks the module of the studio's pages: streams of similar values, compressed with LZMA.
//
//   node Tools/studio-core/pack.mjs MODULE.wasm PACKED
//   node Tools/studio-core/pack.mjs --unpack PACKED MODULE.wasm
//
//   apt-get install nodejs xz-utils
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

/** The offset and length of the size of the output in an LZMA header. */
const sizeField = { offset: 5, length: 8 };
const options = ["--format=lzma", "--lzma1=preset=9e,lc=4,lp=0,pb=0", "--stdout"];

// The page's script has no exports, because it is part of a page.
const script = new URL("../../Sources/Lab/ReviewPages/Page/wasm-streams.js", import.meta.url);
const { dividedModule, joinedModule } = new Function(
  `${readFileSync(script, "utf8")}\nreturn { dividedModule, joinedModule };`
)();

const xz = (input, ...values) => execFileSync("xz", values, { input, maxBuffer: 1 << 28 });

/** Returns a packed module. */
function pack(module) {
  const division = dividedModule(module);
  if (!Buffer.from(module).equals(joinedModule(division))) {
    throw new Error("the module has an instruction that wasm-streams.js does not know");
  }
  const packed = Buffer.from(xz(division, ...options));
  // lzma.js reads the size from the header, which xz does not state.
  packed.writeBigUInt64LE(BigInt(division.length), sizeField.offset);
  return packed;
}

const isUnpacking = process.argv[2] === "--unpack";
const [source, target] = process.argv.slice(isUnpacking ? 3 : 2);
const bytes = readFileSync(source);
writeFileSync(
  target, isUnpacking ? joinedModule(xz(bytes, "--format=lzma", "--decompress", "--stdout")) : pack(bytes)
);
