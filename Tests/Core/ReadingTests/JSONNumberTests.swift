import Reading
import TestSupport
import Testing

@Suite struct JSONNumberTests {
  func number(_ lexeme: String) throws -> Double? {
    let root = try JSONDocument(text: Array(lexeme.utf8), name: "t").root
    #expect(String(decoding: root.sourceBytes, as: UTF8.self) == lexeme)
    return root.number
  }

  @Test(arguments: [
    "0", "-0", "1", "-1.5", "0.1", "1e5", "1E+5", "1e-5", "9007199254740992", "9007199254740993",
    "0.40000000596046448",
    "123456789012345678901234567890", "1.7976931348623157e308", "4.9e-324", "1e-400",
    "0e999999999999", "1e22", "1e23",
    "8.5e-22", "3.4028234663852886e+38", "0.000000000000000000000000000000000000001",
    "18446744073709551616",
    "184467440737095516160", "0.30000000000000004", "2.2250738585072011e-308", "4503599627370497.5",
    "4503599627370498.5", "9007199254740993.0", "9007199254740993.001", "-9007199254740995.00",
    "0.011235955056179775",
    "1844674407370955161.5", "9999999999999999.999", "0.9999999999999999999",
    "0.0000000000000000001",
    "9007199254740993e-19",
  ]) func equalsTheStandardLibrary(lexeme: String) throws {
    let number = try #require(try number(lexeme))
    #expect(number.bitPattern == Double(lexeme)?.bitPattern)
  }

  @Test func randomNumbersEqualStandardLibrary() throws {
    var generator = SplitMixGenerator(state: 7)
    func randomNumber(_ range: ClosedRange<Int>) -> Int {
      Int.random(in: range, using: &generator)
    }
    for _ in 0..<10_000 {
      let digits = (0..<randomNumber(1...20)).map { _ in String(randomNumber(0...9)) }.joined()
      var lexeme = Bool.random(using: &generator) ? "-" : ""
      if Bool.random(using: &generator) {
        lexeme += "0.\(digits)"
      } else {
        lexeme += "\(randomNumber(1...9))\(digits)"
      }
      if randomNumber(0...2) == 0 {
        let sign = Bool.random(using: &generator) ? "-" : ""
        lexeme += "e\(sign)\(randomNumber(0...39))"
      }
      #expect(try number(lexeme)?.bitPattern == Double(lexeme)?.bitPattern, "\(lexeme)")
    }
  }

  @Test func longNumbersAreRead() throws {
    let small = "0." + String(repeating: "3", count: 1_000_000)
    #expect(try number(small) == 1.0 / 3.0)
    let large = String(repeating: "9", count: 308)
    #expect(try number(large) == 1e308)
    #expect(throws: JSONError.self) { try number(large + "9") }
  }
}
