import HapticModel
import Testing

@Suite struct DynamicParameterIDTests {
  @Test func onlyIntensityAndVolumeMultiply() {
    #expect(
      DynamicParameterID.allCases.filter(\.isMultiplier)
        == [.hapticIntensityControl, .audioVolumeControl])
  }

  @Test(arguments: DynamicParameterID.allCases)
  func neutralValuesChangeNothing(id: DynamicParameterID) {
    #expect(id.neutralValue == (id.isMultiplier ? 1 : 0))
    #expect(id.range == (id.isMultiplier ? 0...1 : -1...1))
  }

  @Test(arguments: DynamicParameterID.allCases)
  func everyNameIsThatOfItsTargetAndControl(id: DynamicParameterID) {
    let name = id.rawValue
    let target = id.target.rawValue
    #expect(name.hasSuffix("Control"))
    #expect(name == "\(target)Control" || name.hasSuffix("\(target)Control"))
  }
}
