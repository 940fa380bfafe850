import HapticModel
import Testing

@Suite struct EventParametersTests {
  @Test func nothingIsGivenAtFirst() {
    let parameters = EventParameters()
    #expect(parameters.identifiers.isEmpty)
    for id in EventParameterID.allCases { #expect(parameters[id] == nil) }
  }

  @Test(arguments: EventParameterID.allCases)
  func aValueIsKeptAsItWasGivenAndNoOtherChanges(id: EventParameterID) {
    var parameters = EventParameters()
    parameters[id] = 7.5
    #expect(parameters.identifiers == [id])
    #expect(parameters[id] == 7.5)
    parameters[id] = nil
    #expect(parameters == EventParameters())
  }

  @Test func zeroIsGivenAndDiffersFromNothing() {
    let zero: EventParameters = [.audioPan: 0]
    #expect(zero[.audioPan] == 0)
    #expect(zero != EventParameters())
  }

  @Test func theLastOfTwoValuesCounts() {
    let parameters: EventParameters = [.attackTime: 0.1, .attackTime: 0.2]
    #expect(parameters[.attackTime] == 0.2)
    #expect(parameters == EventParameters([.attackTime: 0.2]))
  }

  @Test func identifiersComeInDeclarationOrder() {
    let parameters: EventParameters = [.audioPan: 0, .hapticIntensity: 1, .sustained: 0]
    #expect(parameters.identifiers == [.hapticIntensity, .sustained, .audioPan])
  }
}
