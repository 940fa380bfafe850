import SystemSupport
import Testing

struct NumberFormattingTests {
  @Test func fixedTextHasTheGivenDecimalPlaces() {
    #expect(NumberFormatting.fixedText(0.1606, places: 3) == "0.161")
    #expect(NumberFormatting.fixedText(-0.0001, places: 3) == "0.000")
    #expect(NumberFormatting.fixedText(-12.5, places: 0) == "-13")
    #expect(NumberFormatting.fixedText(-3, places: 1) == "-3.0")
  }
}
