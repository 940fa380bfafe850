import Glibc
import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

@Suite struct SegmentAccuracyTests {
  /// Returns the maximum errors of the only voice of a plan, compared with the formulas frame by
  /// frame.
  ///
  /// The error in decibels is not counted where the level changes by more than a fifth within 2 ms
  /// and the rendered level is at most 1 ms early or late.
  private func errors(
    of pattern: HapticPattern, rate: Double, intensity: (Double) -> Double,
    sharpness: (Double) -> Double,
    envelope: (Double) -> Double = { _ in 1 }
  ) throws -> (decibels: Double, level: Double, hertz: Double) {
    let plan = try RenderPlan(compiling: pattern, rate: rate)
    let plannedVoice = plan.planView.value.voices[0]
    var voice = Voice(
      plannedVoiceIndex: 0, plannedVoice, passOriginFrame: 0,
      onsetOutputFrame: plannedVoice.onsetFrame,
      envelope: plannedVoice.envelope, cursors: plan.planView.value.layerTracks[0].hapticCursors)
    let player = RenderPlayer(plan: plan)
    let context = player.playerCell.value.voiceContext(isStereo: true)
    var maximumErrors = (decibels: 0.0, level: 0.0, hertz: 0.0)
    let attackFrameCount = Int64(rate / 500)
    while voice.nextFrameToMix < plannedVoice.envelope.releaseStartFrame {
      voice.beginSegment(plannedVoice, in: context)
      // The levels between the compared frames are linear.
      let spacing = Int64(max(1, rate / 16_000))
      for offset in stride(
        from: 0, to: voice.segmentEndFrame - voice.nextFrameToMix, by: Int(spacing))
      where voice.nextFrameToMix + offset > attackFrameCount {
        let time = Double(voice.nextFrameToMix + offset) / rate
        func level(at time: Double) -> Double {
          let clampedIntensity = min(max(intensity(time), 0), 1)
          return 0.44 * clampedIntensity * clampedIntensity * envelope(time)
        }
        let expectedLevel = level(at: time)
        let rendered = Double(
          voice.leftLevel.startAmplitude + voice.leftLevel.slopePerFrame * Float(offset))
        maximumErrors.level = max(maximumErrors.level, abs(rendered - expectedLevel))
        let nearbyLevels = [level(at: time - 0.001), expectedLevel, level(at: time + 0.001)]
          .sorted()
        if expectedLevel > 0.44 * 0.001,
          rendered < nearbyLevels[0] || rendered > nearbyLevels[2]
            || nearbyLevels[2] < nearbyLevels[0] * 1.2
        {
          maximumErrors.decibels = max(
            maximumErrors.decibels, abs(decibels(rendered, expectedLevel)))
        }
        let phaseIncrement =
          Int64(voice.sine.phaseIncrement) + Int64(
            Int32(bitPattern: voice.sine.phaseIncrementSlope)) * offset
        let hertz = 80 * pow(230 / 80, min(max(sharpness(time), 0), 1))
        maximumErrors.hertz = max(
          maximumErrors.hertz, abs(Double(phaseIncrement) * rate / 4_294_967_296 / hertz - 1))
      }
      voice.nextFrameToMix = voice.segmentEndFrame
    }
    return maximumErrors
  }

  static let intensities: [[(Double, Double)]] = [
    [(0, 0), (1, 1)], [(0, 1), (1, 0)], [(0, 0.1), (0.3, 1), (0.6, 0.3), (1, 0.9)],
    [(0, 0.2), (0.5, 1), (0.52, 0.05)],
  ]

  @Test(arguments: [8_000, 44_100, 48_000, 192_000], intensities)
  func levelStaysWithinThreeHundredthsOfADecibel(
    rate: Double, points: [(Double, Double)]
  ) throws {
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticIntensityControl, along: points)])
    let maximumErrors = try errors(
      of: pattern, rate: rate, intensity: piecewiseLine(points), sharpness: { _ in 0.5 })
    #expect(maximumErrors.decibels < 0.03)
    #expect(maximumErrors.level < 0.0015)
    #expect(maximumErrors.hertz < 1e-6)
  }

  @Test(arguments: [8_000, 48_000, 192_000]) func fastRampsAreFollowedWithinAMillisecond(
    rate: Double
  ) throws {
    let points = [(0, 0.2), (0.3, 0.2), (0.305, 1), (0.5, 1), (0.505, 0), (0.7, 0), (0.705, 0.7)]
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticIntensityControl, along: points)])
    let maximumErrors = try errors(
      of: pattern, rate: rate, intensity: piecewiseLine(points), sharpness: { _ in 0.5 })
    #expect(maximumErrors.decibels < 0.03)
    #expect(maximumErrors.level < 0.44 * 0.012)
  }

  @Test(arguments: [8_000, 48_000, 192_000]) func frequencyStaysWithinFourPartsInTenThousand(
    rate: Double
  ) throws {
    let points = [(0, -0.5), (0.5, 0.5), (1, -0.2)]
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticSharpnessControl, along: points)])
    let control = piecewiseLine(points)
    let maximumErrors = try errors(
      of: pattern, rate: rate, intensity: { _ in 1 }, sharpness: { 0.5 + control($0) })
    #expect(maximumErrors.hertz < 4e-4)
    #expect(maximumErrors.level < 1e-6)
  }

  @Test func attackAndMovingIntensityAreMultiplied() throws {
    let points = [(0.0, 1.0), (1, 0.2)]
    let attack = EnvelopeTimes.seconds(normalized: 0.7)
    let pattern = HapticPattern(
      events: [humEvent(0, 1, [.attackTime: 0.7])],
      curves: [curve(.hapticIntensityControl, along: points)])
    let maximumErrors = try errors(
      of: pattern, rate: 48_000, intensity: piecewiseLine(points), sharpness: { _ in 0.5 },
      envelope: { min($0 / attack, 1) })
    #expect(maximumErrors.decibels < 0.1)
    #expect(maximumErrors.level < 0.001)
  }

  @Test(arguments: [8_000, 48_000]) func phaseStaysExactWhileSharpnessMoves(rate: Double) throws {
    let points = [(0, -0.5), (0.5, 0.5), (1, -0.2)]
    let pattern = HapticPattern(
      events: [humEvent()], curves: [curve(.hapticSharpnessControl, along: points)])
    let control = piecewiseLine(points)
    var reference = ReferenceEvent(
      rate: rate, durationSeconds: 0.999, sharpness: { 0.5 + control($0) })
    reference.envelope = { min($0 / 0.001, 1) }
    #expect(reference.errorDecibels(of: try render(pattern, rate: rate)) < -60)
  }

  @Test func curvesOfBothControlsFollowTheReference() throws {
    let intensityPoints = [(0, 0.1), (0.3, 1), (0.6, 0.3), (1, 0.9)]
    let sharpnessPoints = [(0, 0), (0.3, 0.6), (0.9, -0.4)]
    let pattern = HapticPattern(
      events: [humEvent(0, 1, sharpness: 0.4)],
      curves: [
        curve(.hapticIntensityControl, along: intensityPoints),
        curve(.hapticSharpnessControl, along: sharpnessPoints),
      ])
    let control = piecewiseLine(sharpnessPoints)
    var reference = ReferenceEvent(
      durationSeconds: 0.999, intensity: piecewiseLine(intensityPoints),
      sharpness: { 0.4 + control($0) })
    reference.envelope = { min($0 / 0.001, 1) }
    #expect(reference.errorDecibels(of: try render(pattern)) < -57)
  }

  @Test func frequencyIsExactOverAMinute() throws {
    let samples = try render(HapticPattern(events: [humEvent(0, 60, sharpness: 0.3)]), rate: 8_000)
    let expectedHertz = TransducerProfile.phone.frequency.hertz(atSharpness: 0.3)
    let measured = frequency(of: samples, rate: 8_000, from: 0.1, to: 59.9)
    #expect(abs(measured / expectedHertz - 1) < 0.3e-6)
  }
}
