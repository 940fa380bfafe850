import Glibc
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Bands and crossovers of a channel, measured with rendered sines and noise.
struct ChannelFilterTests {
  /// Returns the rendering of a recording, interleaved, with one channel for each list of filters.
  private func outputs(
    of samples: [Float], rate: Double, _ filters: [[ChannelFilter]], isRaw: Bool = true,
    blockLength: Int = 512
  ) throws -> [Float] {
    var routing = OutputRouting(channelCount: filters.count, buses: .haptics)
    for (index, channelFilters) in filters.enumerated() {
      routing.channels[index].filters = channelFilters
    }
    var settings = RenderSettings(routing: routing, outputFrameCount: Int64(samples.count))
    settings.bypassesOutputProcessing = isRaw
    let plan = try RenderPlan(
      recording: AudioBuffer(interleaved: samples, channelCount: 1), rate: rate)
    return rendered(plan, settings, blockLength: blockLength)
  }

  /// Returns the magnitude response of filters at a frequency, measured over whole periods after
  /// 0.5 s. The outputs of all channels are added.
  private func magnitude(_ filters: [[ChannelFilter]], atHertz hertz: Double, rate: Double) throws
    -> Double
  {
    let firstFrame = Int(0.5 * rate)
    let length = Int((max(1, (0.2 * hertz).rounded()) * rate / hertz).rounded())
    func phase(_ frame: Int) -> Double { 2 * Double.pi * hertz * Double(frame) / rate }
    let samples = (0..<firstFrame + length).map { Float(0.4 * sin(phase($0))) }
    let outputs = try outputs(of: samples, rate: rate, filters)
    var sineProduct = 0.0
    var cosineProduct = 0.0
    var sineEnergy = 0.0
    var crossProduct = 0.0
    var cosineEnergy = 0.0
    for frame in firstFrame..<firstFrame + length {
      let sineSample = sin(phase(frame))
      let cosineSample = cos(phase(frame))
      let sum = filters.indices.reduce(0.0) { $0 + Double(outputs[frame * filters.count + $1]) }
      sineProduct += sum * sineSample
      cosineProduct += sum * cosineSample
      sineEnergy += sineSample * sineSample
      crossProduct += sineSample * cosineSample
      cosineEnergy += cosineSample * cosineSample
    }
    let determinant = sineEnergy * cosineEnergy - crossProduct * crossProduct
    let sine = (sineProduct * cosineEnergy - cosineProduct * crossProduct) / determinant
    let cosine = (cosineProduct * sineEnergy - sineProduct * crossProduct) / determinant
    return (sine * sine + cosine * cosine).squareRoot() / 0.4
  }

  private static let rates = [8_000.0, 44_100, 48_000, 96_000, 192_000]

  /// Returns the frequency relative to the corner of the equivalent analog filter, by the bilinear
  /// transform.
  private func ratio(_ hertz: Double, to corner: Double, rate: Double) -> Double {
    tan(Double.pi * hertz / rate) / tan(Double.pi * corner / rate)
  }

  @Test(arguments: rates) func bandHasItsGainAndItsWidth(rate: Double) throws {
    for (decibels, quality) in [(6.0, 2.0), (-12, 0.7), (18, 3), (-3, 5)] {
      let band = ChannelFilter.band(hertz: 60, decibels: decibels, qualityFactor: quality)
      for hertz in [20.0, 45, 60, 80, 300] {
        let relativeFrequency = ratio(hertz, to: 60, rate: rate)
        let amplitudeRoot = pow(10, decibels / 40)
        let expected =
          hypot(
            1 - relativeFrequency * relativeFrequency, relativeFrequency * amplitudeRoot / quality)
          / hypot(
            1 - relativeFrequency * relativeFrequency, relativeFrequency / amplitudeRoot / quality)
        let measured = try magnitude([[band]], atHertz: hertz, rate: rate)
        #expect(
          abs(20 * log10(measured / expected)) < 0.01, "\(decibels) dB, Q \(quality) at \(hertz) Hz"
        )
        #expect(abs(band.magnitude(atHertz: hertz, rate: rate) / expected - 1) < 1e-6)
      }
      #expect(abs(20 * log10(try magnitude([[band]], atHertz: 60, rate: rate)) - decibels) < 0.01)
    }
  }

  @Test(arguments: rates) func crossoverIsOfFourthOrderAndSumsToAFlatResponse(rate: Double)
    throws
  {
    for corner in [30.0, 80, 1_500] {
      let low = [ChannelFilter.lowPass(hertz: corner)]
      let high = [ChannelFilter.highPass(hertz: corner)]
      for ratioToCorner in [0.25, 0.5, 0.9, 1, 1.1, 2] {
        let hertz = ratioToCorner * corner
        let fourthPower = pow(ratio(hertz, to: corner, rate: rate), 4)
        #expect(
          abs(20 * log10(try magnitude([low], atHertz: hertz, rate: rate) * (1 + fourthPower)))
            < 0.01)
        #expect(
          abs(
            20
              * log10(
                try magnitude([high], atHertz: hertz, rate: rate) * (1 + fourthPower) / fourthPower)
          ) < 0.01)
        #expect(
          abs(20 * log10(try magnitude([low, high], atHertz: hertz, rate: rate))) < 0.001,
          "\(hertz) Hz")
      }
      // Half of the amplitude in each at the corner.
      #expect(abs(20 * log10(try magnitude([low], atHertz: corner, rate: rate)) + 6.02) < 0.01)
    }
  }

  private static let all: [ChannelFilter] = [
    .lowPass(hertz: 200), .band(hertz: 40, decibels: 12, qualityFactor: 8), .highPass(hertz: 15),
    .band(hertz: 90, decibels: -9, qualityFactor: 1),
  ]

  private static let noise: [Float] = {
    var generator = SplitMixGenerator(state: 20_261_123)
    return (0..<20_000).map { _ in Float.random(in: -1...1, using: &generator) }
  }()

  @Test(arguments: [true, false]) func blockLengthsDoNotChangeTheSamples(isRaw: Bool) throws {
    let filters = [Self.all, [], [.lowPass(hertz: 80)], [.highPass(hertz: 80)]]
    let expected = try outputs(
      of: Self.noise, rate: 8_000, filters, isRaw: isRaw, blockLength: 20_000)
    for length in [1, 3, 64, 255, 4_096] {
      #expect(
        try outputs(of: Self.noise, rate: 8_000, filters, isRaw: isRaw, blockLength: length)
          == expected)
    }
    // The filters of the other channels do not change a channel without filters.
    let unfiltered = try outputs(of: Self.noise, rate: 8_000, [[]], isRaw: isRaw)
    #expect(stride(from: 1, to: expected.count, by: 4).map { expected[$0] } == unfiltered)
  }

  @Test func extremeFiltersStayBelowTheCeiling() throws {
    let maximumFilters = Array(
      repeating: ChannelFilter.band(hertz: 50, decibels: 24, qualityFactor: 0.1), count: 16)
    let loudNoise = Self.noise.map { $0 * 1e6 } + [.nan, .infinity] + Self.noise
    let samples = try outputs(of: loudNoise, rate: 8_000, [maximumFilters], isRaw: false)
    #expect(samples.allSatisfy { abs($0) <= 0.891 })
    #expect((samples.map(abs).max() ?? 0) > 0.5)
    // A corner above half of the rate, which the program refuses, still yields a stable filter.
    let aboveNyquist = try outputs(
      of: Self.noise, rate: 8_000, [[.lowPass(hertz: 20_000)]], isRaw: false)
    #expect(aboveNyquist.allSatisfy { abs($0) <= 0.891 })
  }

  @Test(arguments: [
    [ChannelFilter.lowPass(hertz: 25)], [.band(hertz: 40, decibels: 18, qualityFactor: 8)],
    [.band(hertz: 40, decibels: -20, qualityFactor: 0.3)], all,
  ]) func tailCoversTheRingingOfTheFilters(filters: [ChannelFilter]) throws {
    var routing = OutputRouting(channelCount: 1)
    #expect(routing.tailDuration(rate: 8_000) == OfflineRenderer.defaultTailSeconds)
    routing.channels[0].filters = filters
    let tail = Int(routing.tailDuration(rate: 8_000) * 8_000)
    var impulse = [Float](repeating: 0, count: 4 * tail + 8_000)
    impulse[0] = 1
    let magnitudes = try outputs(of: impulse, rate: 8_000, [filters]).map(abs)
    // The first sample is the impulse itself; the following samples are the ringing.
    let peak = magnitudes.dropFirst().max() ?? 0
    #expect((magnitudes[tail...].max() ?? 0) < 4e-3 * peak)
    #expect(tail < 16_000)
  }

  @Test func subwooferUsesEqualLoudnessContours() {
    let profile = TransducerProfile(
      name: "sub", summary: "", frequency: FrequencyMapping(lowHertz: 25, highHertz: 100),
      hardware: TransducerHardware(product: "sub"),
      driveSettings: DriveSettings(hasEqualSensation: true, contactSite: .ear))
    // ISO 226:2003, annex B, 80 phon.
    for (hertz, level) in [
      (20.0, 118.99), (31.5, 109.65), (50, 101.72), (100, 92.48), (400, 81.68),
    ] {
      #expect(abs(profile.perceptionThresholdDecibels(atHertz: hertz) - level) < 0.01)
    }
    #expect(profile.transducerSettings(rate: 48_000)?.equalizer == nil)
    let levels = profile.levelsOverSharpness(count: 3, drive: nil)
    #expect(levels[0] == 1)
    #expect(abs(20 * log10(levels[2]) - (92.48 - 114.23)) < 0.01)
  }
}
