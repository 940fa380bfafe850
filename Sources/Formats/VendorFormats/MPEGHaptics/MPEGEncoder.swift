internal import HapticFormats
internal import HapticModel

/// An encoder that converts a composition into an MPEG document.
///
/// The document has one perception, with a channel for each body location.
///
/// Transients share one band. Continuous events use as many vectorial bands as events overlap.
/// Sampled signals become linear curves.
struct MPEGEncoder {
  /// The resolution of the written times, in ticks per second.
  private static let ticksPerSecond = 48_000
  /// The maximum position of a key frame within its effect, in ticks.
  private static let maximumEffectTicks = Int(Int32.max)
  /// The maximum numbers of elements in a written document.
  ///
  /// The elements are effects, key frames, bands per channel, and channels.
  private static let maximumElementCounts = (
    effects: 4_000_000, keyframes: 8_000_000, bands: 1_000, channels: 64
  )
  /// The maximum deviation of a signal's lines from its samples, as a fraction of full scale.
  private static let maximumSignalLineDeviation = 1.0 / 8_192

  private(set) var document = MPEGDocument()
  private(set) var losses = LossLog()
  private var effectCount = 0
  private var keyframeCount = 0
  private var bands: [MPEGDocument.Band] = []
  /// The end tick of the last effect in each band.
  private var bandEndTicks: [Int] = []

  init(_ composition: HapticComposition, options: WritingOptions) {
    let composition = composition.unrolled(passCount: options.loopPassCount, losses: &self.losses)
    self.losses.addNonHapticLosses(of: composition, keepsBodyLocations: true)
    document.ticksPerSecond = Self.ticksPerSecond
    document.conformanceLevel = 1
    // The schema requires a date. A constant date gives identical files for identical compositions.
    document.creationDate = "2023-01-01T00:00:00Z"
    document.description = [composition.title, composition.notes].compactMap { $0 }.joined(
      separator: ": ")
    let envelopeSampler = EnvelopeSampler(
      .amplitude, mapping: .linear, levelTolerance: options.curveToleranceFraction,
      frequencies: .mpeg)
    let envelopes = envelopeSampler.envelopes(of: composition, losses: &self.losses)
    envelopeSampler.addApproximationLosses(of: envelopes, to: &self.losses)
    addRampLosses(of: envelopes, in: composition, tolerance: options.curveToleranceFraction)
    var perception = MPEGDocument.Perception()
    perception.modality = .vibrotactile
    for channelNumber
      in 1...max(1, min(composition.bodyLocationCount, Self.maximumElementCounts.channels))
    {
      // A layer without a body location plays in every channel.
      let layerIndices = composition.layers.indices.filter {
        (composition.layers[$0].bodyLocation?.number ?? channelNumber) == channelNumber
      }
      let channelEnvelopes =
        composition.bodyLocationCount > 0
        ? envelopes.filter { layerIndices.contains($0.eventReference.layerIndex) } : envelopes
      bands = []
      bandEndTicks = []
      addTransients(channelEnvelopes.filter { $0.kind == .hapticTransient })
      for envelope in channelEnvelopes where envelope.kind == .hapticContinuous {
        addWave(envelope)
      }
      for layer in layerIndices {
        for signal in composition.layers[layer].signals {
          addSignal(signal, ofLayer: layer)
        }
      }
      var channel = MPEGDocument.Channel(id: channelNumber - 1)
      channel.description = layerIndices.first.map { composition.layers[$0].name } ?? ""
      channel.bands = bands.filter { !$0.effects.isEmpty }.map(Self.withLimitsCoveringKeyframes)
      if channel.bands.isEmpty {
        channel.bands = [Self.emptyBand(of: .transient)]
      }
      perception.channels.append(channel)
    }
    document.perceptions = [perception]
    document.syncPointCount = 1
  }

  /// Adds a loss for the envelope times of events. The default profile plays their ramps as lines
  /// of intensity instead of amplitude.
  private mutating func addRampLosses(
    of envelopes: [EventEnvelope], in composition: HapticComposition, tolerance: Double
  ) {
    let exactEnvelopeSampler = EnvelopeSampler(
      .intensity, levelTolerance: tolerance, frequencies: .mpeg)
    let exactEnvelopes = exactEnvelopeSampler.envelopes(of: composition, losses: &losses)
    let amplitudeMapping = exactEnvelopeSampler.levelScale.amplitudeMapping
    for (envelope, exact) in zip(envelopes, exactEnvelopes) {
      var cursor = 0
      var error = 0.0
      for point in exact.points.dropFirst() {
        guard let written = envelope.points.point(at: point.timeSeconds, cursor: &cursor) else {
          continue
        }
        // At a jump, the written point is that after the jump.
        let isJump = written.timeSeconds == envelope.points[cursor].timeSeconds
        guard !isJump else { continue }
        let difference =
          amplitudeMapping.amplitude(ofIntensity: written.level)
          - amplitudeMapping.amplitude(ofIntensity: point.level)
        error = max(error, abs(difference))
      }
      if error > 2 * tolerance {
        losses.add(
          .approximated, .event(envelope.eventReference),
          """
          the ramps of the envelope become lines of intensity, an error of up to # of full scale
          """,
          size: error)
      }
    }
  }

  private static func emptyBand(of kind: MPEGBandKind) -> MPEGDocument.Band {
    var emptyBand = MPEGDocument.Band()
    emptyBand.kind = kind
    (emptyBand.lowerHertz, emptyBand.upperHertzOrSampleRate) =
      kind == .curve ? (0, 1_000) : (65, 300)
    if kind == .curve {
      emptyBand.curveKind = .linear
    }
    return emptyBand
  }

  /// Returns a band with limits that contain the frequencies of all its key frames.
  private static func withLimitsCoveringKeyframes(_ band: MPEGDocument.Band) -> MPEGDocument.Band {
    guard band.kind != .curve else { return band }
    var widenedBand = band
    for keyframe in widenedBand.effects.lazy.flatMap({ $0.keyframes })
    where !keyframe.hertz.isNaN {
      widenedBand.lowerHertz = min(widenedBand.lowerHertz, Double(keyframe.hertz))
      widenedBand.upperHertzOrSampleRate = max(
        widenedBand.upperHertzOrSampleRate, Double(keyframe.hertz))
    }
    return widenedBand
  }

  /// Returns the nearest tick to a time, and records the rounding error as a loss.
  private mutating func roundToTicks(_ seconds: Double, element: CompositionElement) -> Int {
    let exactTicks = seconds * Double(Self.ticksPerSecond)
    let roundedTicks = exactTicks.rounded()
    let timeError = abs(exactTicks - roundedTicks) / Double(Self.ticksPerSecond)
    if timeError > 1e-7 {
      losses.add(
        .approximated, .composition,
        "times are rounded to ticks of 1/\(Self.ticksPerSecond) s, by up to # µs",
        size: timeError * 1e6)
    }
    return FrameConversion.clampedInteger(
      roundedTicks, in: 0...FrameConversion.maximumIntegerMagnitude)
  }

  private mutating func makeKeyframe(at position: Int, amplitude: Double, sharpness: Double)
    -> MPEGDocument.Keyframe
  {
    let exactHertz = SharpnessScale.mpeg.hertz(ofSharpness: sharpness)
    let roundedHertz = exactHertz.rounded()
    if abs(exactHertz - roundedHertz) > 1e-4 {
      losses.add(
        .approximated, .composition, "frequencies are rounded to whole hertz, by up to # Hz",
        size: abs(exactHertz - roundedHertz))
    }
    return MPEGDocument.Keyframe(
      offsetTicks: Int32(clamping: position), amplitude: Float(amplitude),
      hertz: Float(roundedHertz))
  }

  private mutating func reserveEffect(keyframeCount newCount: Int, for element: CompositionElement)
    -> Bool
  {
    guard effectCount < Self.maximumElementCounts.effects,
      keyframeCount + newCount <= Self.maximumElementCounts.keyframes
    else {
      losses.add(.dropped, element, "the file cannot contain more effects")
      return false
    }
    effectCount += 1
    keyframeCount += newCount
    return true
  }

  // MARK: - Events

  private mutating func addTransients(_ envelopes: [EventEnvelope]) {
    var transientBand = Self.emptyBand(of: .transient)
    var transientEffect = MPEGDocument.Effect()
    for envelope in envelopes {
      let point = envelope.points[0]
      let position = roundToTicks(point.timeSeconds, element: .event(envelope.eventReference))
      if transientEffect.keyframes.isEmpty
        || position - transientEffect.startTicks > Self.maximumEffectTicks
      {
        if !transientEffect.keyframes.isEmpty {
          transientBand.effects.append(transientEffect)
        }
        guard reserveEffect(keyframeCount: 1, for: .event(envelope.eventReference)) else { break }
        transientEffect = MPEGDocument.Effect()
        // The first effect starts with the file, as in files of the reference software.
        transientEffect.startTicks =
          transientBand.effects.isEmpty && position <= Self.maximumEffectTicks ? 0 : position
      } else {
        keyframeCount += 1
      }
      transientEffect.keyframes.append(
        makeKeyframe(
          at: position - transientEffect.startTicks,
          amplitude: point.level * MPEGReader.transientReferenceAmplitude,
          sharpness: point.sharpness))
    }
    if !transientEffect.keyframes.isEmpty {
      transientBand.effects.append(transientEffect)
    }
    bands.append(transientBand)
    bandEndTicks.append(.max)
  }

  private mutating func addWave(_ envelope: EventEnvelope) {
    let eventElement = CompositionElement.event(envelope.eventReference)
    let startTicks = roundToTicks(envelope.startSeconds, element: eventElement)
    guard
      roundToTicks(envelope.endSeconds, element: eventElement) - startTicks
        <= Self.maximumEffectTicks
    else {
      return losses.add(
        .dropped, eventElement,
        "the event lasts more than \(Self.maximumEffectTicks / Self.ticksPerSecond) s"
      )
    }
    var waveKeyframes: [MPEGDocument.Keyframe] = []
    for point in envelope.points {
      let next = makeKeyframe(
        at: roundToTicks(point.timeSeconds, element: eventElement) - startTicks,
        amplitude: point.level * MPEGReader.continuousReferenceAmplitude,
        sharpness: point.sharpness)
      // Two key frames at one tick are a jump; key frames between them have no effect.
      if waveKeyframes.count > 1,
        waveKeyframes[waveKeyframes.count - 2].offsetTicks == next.offsetTicks
      {
        waveKeyframes.removeLast()
      }
      if waveKeyframes.last != next {
        waveKeyframes.append(next)
      }
    }
    guard let lastKeyframe = waveKeyframes.last, lastKeyframe.offsetTicks > 0,
      waveKeyframes.count > 1
    else {
      return losses.add(.dropped, eventElement, "the event is shorter than a tick")
    }
    appendEffect(
      waveKeyframes, at: startTicks, toBandLike: Self.emptyBand(of: .vectorial), for: eventElement)
  }

  private mutating func appendEffect(
    _ keyframes: [MPEGDocument.Keyframe], at start: Int, toBandLike template: MPEGDocument.Band,
    for element: CompositionElement
  ) {
    let endTicks = start + Int(keyframes[keyframes.count - 1].offsetTicks)
    var freeBandIndex = bands.indices.first {
      bands[$0].kind == template.kind && bandEndTicks[$0] <= start
    }
    if freeBandIndex == nil {
      guard bands.count < Self.maximumElementCounts.bands else {
        return losses.add(.dropped, element, "the file cannot contain more simultaneous effects")
      }
      freeBandIndex = bands.count
      bands.append(template)
      bandEndTicks.append(0)
    }
    guard let freeBandIndex else { return }
    bandEndTicks[freeBandIndex] = endTicks
    guard reserveEffect(keyframeCount: keyframes.count, for: element) else { return }
    var bandEffect = MPEGDocument.Effect(isVectorialWave: template.kind == .vectorial)
    bandEffect.startTicks = start + Int(keyframes[0].offsetTicks)
    bandEffect.keyframes = keyframes
    for index in bandEffect.keyframes.indices {
      bandEffect.keyframes[index].offsetTicks -= keyframes[0].offsetTicks
    }
    bands[freeBandIndex].effects.append(bandEffect)
  }

  // MARK: - Signals

  private mutating func addSignal(_ signal: SampledSignal, ofLayer layer: Int) {
    guard !signal.samples.isEmpty, SampledSignal.supportedSampleRates.contains(signal.sampleRate),
      signal.startSeconds >= 0,
      signal.startSeconds + signal.durationSeconds <= FrameConversion.maximumSeconds
    else {
      return losses.add(.dropped, .layer(layer), "a signal that cannot be rendered is not written")
    }
    let samplePoints = signal.samples.enumerated().map { index, sample in
      EnvelopePoint(
        timeSeconds: signal.startSeconds + Double(index) / signal.sampleRate,
        level: Double(sample.isFinite ? sample : 0) * MPEGReader.continuousReferenceAmplitude,
        sharpness: 0)
    }
    let pointReduction = PointReduction(
      samplePoints, tolerance: Self.maximumSignalLineDeviation, sharpnessWeight: 0)
    if pointReduction.maximumCurveDeviation > 1e-6 {
      losses.add(
        .approximated, .layer(layer),
        "the samples of a signal are approximated by lines, with an error of up to # of full scale",
        size: pointReduction.maximumCurveDeviation)
    }
    let startTicks = roundToTicks(signal.startSeconds, element: .layer(layer))
    var curveKeyframes: [MPEGDocument.Keyframe] = []
    for point in pointReduction.remainingPoints {
      let clipped = min(max(point.level, -1), 1)
      if clipped != point.level {
        losses.add(
          .approximated, .layer(layer), "a signal is clipped by up to # of full scale",
          size: abs(point.level - clipped)
        )
      }
      let next = MPEGDocument.Keyframe(
        offsetTicks: Int32(
          clamping: roundToTicks(point.timeSeconds, element: .layer(layer)) - startTicks),
        amplitude: Float(clipped))
      if curveKeyframes.last?.offsetTicks == next.offsetTicks {
        curveKeyframes.removeLast()
      }
      curveKeyframes.append(next)
    }
    guard curveKeyframes.count > 1 else { return }
    appendEffect(
      curveKeyframes, at: startTicks, toBandLike: Self.emptyBand(of: .curve), for: .layer(layer))
  }
}
