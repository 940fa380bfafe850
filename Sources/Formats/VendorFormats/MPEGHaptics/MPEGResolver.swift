internal import CMath
internal import HapticFormats
import Reading
import HapticModel

/// Resolves the channels of an MPEG document to a playable form: references are replaced by library
/// effects, effects and key frames are sorted, and silent content is removed and reported.
struct MPEGResolver {
  /// A resolved channel with its own name and gain.
  struct Channel {
    var name: String
    var modality: MPEGModality
    var channelGain: Double
    var bands: [Band]
    /// The length of the channel's original recording, in seconds, or nil if unknown.
    var recordingSeconds: Double?
    var sourceValueIndex: Int
  }

  /// A resolved band. No effect in it is a reference.
  struct Band {
    var documentBand: MPEGDocument.Band
    /// The basis effects, sorted by position from the start of the document.
    var effects: [MPEGDocument.Effect]
  }

  /// The maximum number of key frames in a document, including the key frames of every reference.
  static let maximumKeyframeCount = 4_000_000
  /// The maximum number of effects in a document, including the effects of every reference.
  static let maximumEffectCount = 2_000_000
  private static let maximumReferenceDepth = 16

  /// A function that returns the offset of an element in the file, for sorting findings.
  let offsetOfSourceValue: (Int) -> Int
  /// A Boolean value that indicates whether frequencies are clamped to the limits of their band.
  private let clampsFrequencies: Bool
  var log: FindingLog
  private(set) var channels: [Channel] = []
  private var keyframeCount = 0
  private var effectCount = 0

  /// Resolves all channels of a document.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - log: The findings so far.
  ///   - clampsFrequencies: Whether key frames are limited to the frequencies of their band.
  ///   - offset: Returns the location of an element in the file, for the order of findings.
  init(
    _ document: MPEGDocument, log: FindingLog, clampsFrequencies: Bool = true,
    offset: @escaping (Int) -> Int
  ) {
    self.log = log
    self.clampsFrequencies = clampsFrequencies
    self.offsetOfSourceValue = offset
    for perception in document.perceptions {
      var library: [Int: MPEGDocument.Effect] = [:]
      for effect in perception.effectLibrary {
        guard let id = effect.id else { continue }
        if library[id] == nil {
          library[id] = effect
        } else {
          report(
            .mpegDuplicateID, at: effect.sourceValueIndex,
            "the library has another effect with id \(id)"
          )
        }
      }
      for channel in perception.channels {
        channels.append(
          Channel(
            name: channel.description.isEmpty ? perception.description : channel.description,
            modality: perception.modality,
            channelGain: channel.channelGain * powerOfTen(perception.amplitudeExponentOfTen),
            bands: channel.bands.map {
              resolvedBand($0, timescale: document.ticksPerSecond, library: library)
            },
            recordingSeconds: channel.recordingSeconds, sourceValueIndex: channel.sourceValueIndex))
      }
    }
  }

  private mutating func report(
    _ rule: Rule, at sourceIndex: Int, _ message: @autoclosure () -> String
  ) {
    log.add(rule, valueIndex: sourceIndex, offset: offsetOfSourceValue(sourceIndex), message())
  }

  private mutating func resolvedBand(
    _ band: MPEGDocument.Band, timescale: Int, library: [Int: MPEGDocument.Effect]
  )
    -> Band
  {
    var unresolvedBand = band
    unresolvedBand.effects = []
    var resolvedEffects: [MPEGDocument.Effect] = []
    if band.kind == .wavelet {
      let block = WaveletBlock(band, timescale: timescale)
      if block.blockSampleCount == nil {
        report(
          .mpegInvalidBlockLength, at: band.sourceValueIndex,
          """
          a block of \(band.waveletBlockTicks) ticks at \(band.upperHertzOrSampleRate) samples \
          per second is not a power of two from 16 to 65536 samples; the band is silent
          """)
        return Band(documentBand: unresolvedBand, effects: [])
      }
    }
    for effect in band.effects {
      appendResolvedEffect(
        effect, at: 0, of: band, library: library, depth: 0, to: &resolvedEffects)
    }
    let areEffectsSorted = zip(resolvedEffects, resolvedEffects.dropFirst()).allSatisfy {
      $0.startTicks <= $1.startTicks
    }
    if !areEffectsSorted, band.kind != .wavelet {
      let order = resolvedEffects.indices.sorted {
        (resolvedEffects[$0].startTicks, $0) < (resolvedEffects[$1].startTicks, $1)
      }
      resolvedEffects = order.map { resolvedEffects[$0] }
    }
    return Band(documentBand: unresolvedBand, effects: resolvedEffects)
  }

  private mutating func appendResolvedEffect(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band,
    library: [Int: MPEGDocument.Effect],
    depth: Int, to effects: inout [MPEGDocument.Effect]
  ) {
    guard depth <= Self.maximumReferenceDepth else {
      return report(
        .mpegTooManyEffects, at: effect.sourceValueIndex,
        "effects refer to other effects more than 16 levels deep")
    }
    effectCount += 1
    guard effectCount <= Self.maximumEffectCount, keyframeCount <= Self.maximumKeyframeCount else {
      if effectCount == Self.maximumEffectCount + 1 || keyframeCount > Self.maximumKeyframeCount {
        report(
          .mpegTooManyEffects, at: effect.sourceValueIndex,
          """
          the file has more than \(Self.maximumEffectCount) effects or \
          \(Self.maximumKeyframeCount) key frames to play
          """)
        keyframeCount = Self.maximumKeyframeCount
        effectCount = Self.maximumEffectCount + 2
      }
      return
    }
    switch effect.kind {
    case .basis:
      if let basis = resolvedBasisEffect(effect, at: start, of: band) {
        effects.append(basis)
      }
    case .reference:
      guard let id = effect.id, let named = library[id] else {
        let id = effect.id.map { "\($0)" } ?? "none"
        return report(
          .mpegUnknownReference, at: effect.sourceValueIndex,
          "the library has no effect with the id \(id) of this reference")
      }
      var copy = named
      copy.sourceValueIndex = effect.sourceValueIndex
      appendResolvedEffect(
        copy, at: start + effect.startTicks, of: band, library: library, depth: depth + 1,
        to: &effects)
    case .composite:
      for child in effect.childEffects {
        appendResolvedEffect(
          child, at: start + effect.startTicks, of: band, library: library, depth: depth + 1,
          to: &effects)
      }
    }
  }

  /// Returns an effect with sorted key frames, or nil if the effect is silent.
  private mutating func resolvedBasisEffect(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band
  ) -> MPEGDocument
    .Effect?
  {
    var resolvedEffect = effect
    resolvedEffect.startTicks += start
    if band.kind == .wavelet { return resolvedEffect }
    keyframeCount += resolvedEffect.keyframes.count
    let keyframes = resolvedEffect.keyframes
    if !zip(keyframes, keyframes.dropFirst()).allSatisfy({ $0.offsetTicks <= $1.offsetTicks }) {
      report(
        .mpegUnsortedKeyframes, at: resolvedEffect.sourceValueIndex,
        "key frames are not sorted by position")
      let order = keyframes.indices.sorted {
        (keyframes[$0].offsetTicks, $0) < (keyframes[$1].offsetTicks, $1)
      }
      resolvedEffect.keyframes = order.map { keyframes[$0] }
    }
    if band.kind != .vectorial, keyframes.contains(where: { $0.amplitude.isNaN }) {
      report(
        .mpegMissingAmplitude, at: resolvedEffect.sourceValueIndex,
        "a key frame has no amplitude and is ignored"
      )
      resolvedEffect.keyframes.removeAll { $0.amplitude.isNaN }
    }
    guard !resolvedEffect.keyframes.isEmpty else {
      report(
        .mpegMissingKeyframes, at: resolvedEffect.sourceValueIndex,
        "the effect has no key frames and is silent")
      return nil
    }
    guard band.kind == .vectorial else { return resolvedEffect }
    if !keyframes.contains(where: { !$0.hertz.isNaN }) {
      report(
        .mpegMissingFrequency, at: resolvedEffect.sourceValueIndex,
        "the wave has no frequency and is silent")
      return nil
    }
    if band.lowerHertz < band.upperHertzOrSampleRate,
      let outside = keyframes.first(where: {
        Double($0.hertz) < band.lowerHertz || Double($0.hertz) > band.upperHertzOrSampleRate
      })
    {
      report(
        .mpegFrequencyOutsideBand, at: resolvedEffect.sourceValueIndex,
        """
        \(outside.hertz) Hz is outside the band from \(band.lowerHertz) to \
        \(band.upperHertzOrSampleRate) Hz
        """)
      guard clampsFrequencies else { return resolvedEffect }
      for index in resolvedEffect.keyframes.indices
      where !resolvedEffect.keyframes[index].hertz.isNaN {
        resolvedEffect.keyframes[index].hertz = min(
          max(resolvedEffect.keyframes[index].hertz, Float(band.lowerHertz)),
          Float(band.upperHertzOrSampleRate))
      }
    }
    return resolvedEffect
  }
}

/// Returns a power of ten by multiplication, without the rounding differences of `pow`.
func powerOfTen(_ exponent: Int) -> Double {
  var power = 1.0
  for _ in 0..<abs(exponent) {
    power *= 10
  }
  return exponent < 0 ? 1 / power : power
}
