import Testing

@testable import RecordingAnalysis

struct RecordingModelTests {
  private func model(logEvidence: Double, changeCount: Int = 0) -> RecordingModel {
    var model = RecordingModel(
      delaySamples: 0, response: RecordingResponse(kind: .filter, priorVarianceScale: 1))
    model.logEvidence = logEvidence
    let change = RecordingModel.Change(kind: .level, waveformIndex: 0, signedAmount: 3)
    model.changes = [RecordingModel.Change](repeating: change, count: changeCount)
    return model
  }

  @Test("The first model is the best so far")
  func firstModelIsBest() {
    #expect(model(logEvidence: -1_000).isBetter(than: nil))
  }

  @Test("A model is better if it is more probable, with a cost for each change")
  func moreProbableModelIsBetter() {
    #expect(model(logEvidence: -10).isBetter(than: model(logEvidence: -11)))
    #expect(!model(logEvidence: -10).isBetter(than: model(logEvidence: -10)))
    #expect(!model(logEvidence: -10, changeCount: 1).isBetter(than: model(logEvidence: -30)))
    #expect(model(logEvidence: -4, changeCount: 1).isBetter(than: model(logEvidence: -30)))
  }

  @Test("A score that is not a number never replaces a model, and any number replaces it")
  func undefinedScoreIsNeverBetter() {
    #expect(!model(logEvidence: .nan).isBetter(than: model(logEvidence: -1_000)))
    #expect(model(logEvidence: -1_000).isBetter(than: model(logEvidence: .nan)))
    #expect(!model(logEvidence: .nan).isBetter(than: model(logEvidence: .nan)))
  }
}
