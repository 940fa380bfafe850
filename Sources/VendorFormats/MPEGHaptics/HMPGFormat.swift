public import HapticFormats
public import Reading
public import HapticModel

/// The binary file of MPEG-I haptics, ISO/IEC 23090-31.
///
/// It becomes the same layers as the text; see ``HJIFFormat``.
public struct HMPGFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `hmpg`.
  public var id: String { "hmpg" }
  /// The name the standard gives it.
  public var title: String { "MPEG haptics binary stream" }
  /// `hmpg`.
  public var endings: [String] { ["hmpg"] }
  /// The rules of units, packets and their fields.
  public var rules: [Rule] { MPEGRules.hmpg.all }

  /// Certain for an initialization unit that is complete and begins with its timing.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition { HMPGDecoder.recognize(bytes) }

  /// Reads a file and checks it against every rule; places are bytes and their bits.
  ///
  /// With `asReference` the composition is what the reference software synthesises at 8 kHz.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    var decoder = HMPGDecoder(file.bytes)
    decoder.decode()
    let name = file.name
    @Sendable func place(_ bit: Int) -> SourcePlace {
      SourcePlace(name: name, position: .byte(bit / 8, bit: bit % 8 == 0 ? nil : bit % 8))
    }
    return MPEGExamination(
      document: decoder.document, rules: .hmpg, log: decoder.log, offset: { $0 }, place: { place($0) },
      findingPlace: { _, bit in place(bit) }
    ).examination(options)
  }

  /// Writes a composition as the text is written, with amplitudes in steps of 1/127.5.
  ///
  /// There are 1,000 ticks a second where that is exact; else as many of up to 8,000 as let an
  /// effect's keys be counted in 16 bits.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(MPEGRules.hmpg.count)
    let limits = MPEGEncoder.Limits(
      timescale: Self.timescale(for: composition), keyPosition: 65_535, effectCount: 65_536, bandCount: 255,
      signalTolerance: 1.0 / 255)
    let encoder = MPEGEncoder(composition, limits: limits, options: options, losses: LossLog())
    var losses = encoder.losses
    var worst: Float = 0
    for band in encoder.document.perceptions.flatMap(\.channels).flatMap(\.bands) {
      for key in band.effects.lazy.flatMap(\.keys) {
        let held = HMPGWriter.amplitude(of: HMPGWriter.step(of: key.amplitude))
        worst = max(worst, abs(held - key.amplitude))
      }
    }
    if worst > 1e-6 {
      losses.add(
        .approximated, .composition, "amplitudes are rounded to steps of 1/127.5, by as much of full scale as given",
        size: Double(worst))
    }
    return Writing([Writing.File(HMPGWriter.write(encoder.document))], losses: losses.finish())
  }

  /// Ticks a second for a composition.
  private static func timescale(for composition: HapticComposition) -> Int {
    var times: [Double] = []
    var longest = 0.0
    for layer in composition.layers {
      for event in layer.pattern.events {
        times.append(event.time)
        times.append(event.time + (event.duration ?? 0))
        if event.kind == .hapticContinuous {
          longest = max(longest, (event.duration ?? HapticEvent.unlimitedDuration) + 2 * EnvelopeTimes.longest)
        }
      }
      for curve in layer.pattern.curves { times += curve.controlPoints.map { curve.time + $0.time } }
      times += layer.pattern.parameters.map(\.time)
      longest = layer.signals.reduce(longest) { max($0, $1.duration) }
    }
    let isWhole =
      composition.layers.allSatisfy(\.signals.isEmpty)
      && times.allSatisfy { abs($0 * 1_000 - ($0 * 1_000).rounded()) < 1e-6 }
    if isWhole { return 1_000 }
    return [8_000, 4_000, 2_000].first { longest * Double($0) <= 65_535 } ?? 1_000
  }
}
