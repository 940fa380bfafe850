import CLibFuzzer

/// Whole numbers at which integers, floating-point numbers and limits of formats end.
private let boundaries = [
  "0", "-0", "1", "-1", "127", "128", "255", "256", "32767", "32768", "65535", "65536", "86400",
  "86401", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
  "9007199254740991",
  "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
  "18446744073709551615", "18446744073709551616", "1e308", "1e309", "-1e308", "5e-324", "0.1",
]

/// Changes an input for libFuzzer. Every second call replaces whole numbers, because libFuzzer
/// itself changes single digits.
@_cdecl("LLVMFuzzerCustomMutator")
func mutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int
{
  var choices = unsafe Choices(UnsafeBufferPointer(start: bytes, count: count))
  for _ in 0...(seed % 61) {
    _ = choices.number(below: 2)
  }
  let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  guard seed % 2 == 0, count > 0 else { return unsafe LLVMFuzzerMutate(bytes, count, limit) }
  var text = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  for _ in 0...choices.number(below: 3) {
    let place = choices.number(below: text.count)
    guard let first = text[place...].firstIndex(where: { digits.contains($0) }) else { continue }
    var end = text[first...].firstIndex { !digits.contains($0) } ?? text.endIndex
    // A number is taken with its sign, fraction and exponent half of the time.
    if choices.number(below: 2) == 0 {
      end =
        text[first...].firstIndex { !digits.contains($0) && !".eE+-".utf8.contains($0) }
        ?? text.endIndex
    }
    let start = first > 0 && text[first - 1] == UInt8(ascii: "-") ? first - 1 : first
    let value = boundaries[choices.number(below: boundaries.count)]
    guard text.count - (end - start) + value.utf8.count <= limit else { continue }
    text.replaceSubrange(start..<end, with: value.utf8)
  }
  for index in text.indices {
    unsafe bytes[index] = text[index]
  }
  return text.count
}
