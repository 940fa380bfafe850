import SystemSupport
import Testing

struct NumberFormattingTests {
  @Test func figuresHaveTheirPlaces() {
    #expect(NumberFormatting.fixed(0.1606, places: 3) == "0.161")
    #expect(NumberFormatting.fixed(-0.0001, places: 3) == "0.000")
    #expect(NumberFormatting.fixed(-12.5, places: 0) == "-13")
    #expect(NumberFormatting.fixed(-3, places: 1) == "-3.0")
  }
}
