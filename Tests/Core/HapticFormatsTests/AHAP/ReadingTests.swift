import HapticFormats
import VendorFormats
import Reading
import HapticModel
import Testing

@Suite struct ReadingTests {
  func read(_ text: String, _ times: ReadingOptions.CurveTimeReference = .automatic) throws
    -> AHAPContent
  {
    let document = try AHAPDocument(text: Array(text.utf8), name: "t.ahap")
    return try document.read(options: ReadingOptions(curveTimeReference: times))
  }

  @Test func everyFeatureOfAFileIsRead() throws {
    let reading = try AHAPDocument(text: Fixtures.text("Valid/every-key.ahap"), name: "t").read()
    #expect(reading.coreHapticsVersion == 1)
    #expect(reading.metadata == ["Project": "Fixtures", "Description": "every key AHAP has"])
    #expect(reading.metadata["Project"] == "Fixtures")
    #expect(
      reading.pattern.events == [
        HapticEvent(
          kind: .hapticTransient, time: 0,
          parameters: [.hapticIntensity: 0.9, .hapticSharpness: 0.7]),
        HapticEvent(
          kind: .hapticContinuous, time: 0.1, duration: 1,
          parameters: [.sustained: 1, .releaseTime: 0.5]),
        HapticEvent(kind: .audioContinuous, time: 1, duration: 0.5, parameters: [.audioPan: -1]),
        HapticEvent(
          kind: .audioCustom, time: 2,
          waveform: AudioWaveform(
            path: "sounds/click.wav", usesVolumeEnvelope: false, isLooping: true)),
      ])
    #expect(
      reading.pattern.parameters == [
        DynamicParameter(id: .hapticSharpnessControl, value: -0.5, time: 0.4)
      ])
    #expect(
      reading.pattern.curves == [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0.1,
          controlPoints: [.init(time: 0, value: 1), .init(time: 0.8, value: 0.25)])
      ])
    #expect(reading.eventCount(of: .hapticTransient) == 1)
    #expect(!reading.usesAbsoluteCurveTimes)
  }

  @Test func lastOfTwoEqualKeysApplies() throws {
    let reading = try read(
      """
      {"Pattern": 0, "Pattern": [{"Event": {"Time": "x", "Time": 2, "EventT\
      ype": "HapticTransient"}}]}
      """)
    #expect(reading.pattern.events.map(\.time) == [2])
  }

  /// Returns two curves of one control that begin at 0 and 1, with the given points.
  static func curves(_ first: String, _ second: String) -> String {
    let list = [("0", first), ("1", second)].map { time, points in
      """
      {"ParameterCurve": {"ParameterID": "HapticIntensityControl", "Time": \(time),
        "ParameterCurveControlPoints": [\(points)]}}
      """
    }
    return
      "{\"Version\": 1, \"Pattern\": [\(FindingTests.tapEntry),\n\(list.joined(separator: ",\n"))]}"
  }

  static let chainedCurves = curves(
    #"{"Time": 0, "ParameterValue": 0}, {"Time": 1, "ParameterValue": 1}"#,
    #"{"Time": 1, "ParameterValue": 1}, {"Time": 3, "ParameterValue": 0}"#)
  static let curvesWithGap = curves(
    #"{"Time": 0, "ParameterValue": 0}, {"Time": 0.5, "ParameterValue": 1}"#,
    #"{"Time": 1, "ParameterValue": 1}, {"Time": 3, "ParameterValue": 0}"#)

  func times(_ reading: AHAPContent) -> [[Double]] {
    reading.pattern.curves.map { $0.controlPoints.map(\.time) }
  }

  /// Returns the findings except that of a silent pattern: the curves hold a control at 0.
  private func findings(in document: AHAPDocument) -> [Finding] {
    document.examine().allFindings.filter { $0.rule != "silent" }
  }

  @Test func chainOfCurvesHasAbsoluteTimes() throws {
    let reading = try read(Self.chainedCurves)
    #expect(reading.usesAbsoluteCurveTimes)
    #expect(times(reading) == [[0, 1], [0, 2]])
    #expect(reading.pattern.curves.map(\.time) == [0, 1])
    let document = try AHAPDocument(text: Array(Self.chainedCurves.utf8), name: "t.ahap")
    #expect(
      findings(in: document).map(\.description) == [
        """
        t.ahap:4:20: warning: the control points of this curve have absolute times; they are \
        converted (Pattern[2].ParameterCurve); 
        """
          + "make the times relative to the start of the curve"
      ])
  }

  @Test func optionDecidesOriginOfCurveTimes() throws {
    let relative = try read(Self.chainedCurves, .relative)
    #expect(!relative.usesAbsoluteCurveTimes)
    #expect(times(relative) == [[0, 1], [1, 3]])
    let absolute = try read(Self.curvesWithGap, .absolute)
    #expect(absolute.usesAbsoluteCurveTimes)
    #expect(times(absolute) == [[0, 0.5], [0, 2]])
  }

  @Test func curvesWithoutChainAreOnlySuspected() throws {
    #expect(times(try read(Self.curvesWithGap)) == [[0, 0.5], [1, 3]])
    let document = try AHAPDocument(text: Array(Self.curvesWithGap.utf8), name: "t.ahap")
    #expect(findings(in: document).map(\.rule) == ["curve-absolute-times"])
    let relativeCurves = Self.curves(
      #"{"Time": 0, "ParameterValue": 0}"#, #"{"Time": 0.5, "ParameterValue": 1}"#)
    #expect(times(try read(relativeCurves)) == [[0], [0.5]])
    let relativeDocument = try AHAPDocument(text: Array(relativeCurves.utf8), name: "t.ahap")
    #expect(findings(in: relativeDocument).isEmpty)
  }
}
