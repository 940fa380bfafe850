internal import HapticFormats
import HapticModel

/// Makes a document of a composition: one perception with a channel for each place, transients in one band,
/// continuous events in as many vectorial bands as sound at once, sampled signals as linear curves.
struct MPEGEncoder {
  /// Ticks per second.
  private static let timescale = 48_000
  /// Ticks from the start of an effect to its last key.
  private static let longestEffect = Int(Int32.max)
  /// The most effects, key frames, bands of a channel and channels that are written.
  private static let limits = (effects: 4_000_000, keys: 8_000_000, bands: 1_000, channels: 64)
  /// How far lines of a signal may be from its samples, of full scale.
  private static let signalTolerance = 1.0 / 8_192

  private(set) var document = MPEGDocument()
  private(set) var losses = LossLog()
  private var effectCount = 0
  private var keyCount = 0
  private var bands: [MPEGDocument.Band] = []
  /// For each band the tick from which on it is free.
  private var ends: [Int] = []

  init(_ composition: HapticComposition, options: WritingOptions) {
    let composition = composition.unrolled(passes: options.loops, losses: &self.losses)
    self.losses.dropAllButHaptics(of: composition, keepsPlaces: true)
    document.timescale = Self.timescale
    document.level = 1
    // The schema requires a date; one that is always the same keeps equal files equal.
    document.date = "2023-01-01T00:00:00Z"
    document.description = [composition.title, composition.notes].compactMap { $0 }.joined(separator: ": ")
    let envelopes = EnvelopeSampler(.amplitude, law: .linear, tolerance: options.tolerance)
      .envelopes(of: composition, losses: &self.losses)
    var perception = MPEGDocument.Perception()
    perception.modality = .vibrotactile
    for place in 1...max(1, min(composition.placeCount, Self.limits.channels)) {
      // What is felt everywhere is in every channel.
      let felt = composition.layers.indices.filter { (composition.layers[$0].place?.number ?? place) == place }
      let own = composition.placeCount > 0 ? envelopes.filter { felt.contains($0.event.layer) } : envelopes
      (bands, ends) = ([], [])
      addTransients(own.filter { $0.kind == .hapticTransient })
      for envelope in own where envelope.kind == .hapticContinuous { add(envelope) }
      for layer in felt { for signal in composition.layers[layer].signals { add(signal, of: layer) } }
      var channel = MPEGDocument.Channel(id: place - 1)
      channel.description = felt.first.map { composition.layers[$0].name } ?? ""
      channel.bands = bands.filter { !$0.effects.isEmpty }
      if channel.bands.isEmpty { channel.bands = [Self.band(.transient)] }
      perception.channels.append(channel)
    }
    document.perceptions = [perception]
    document.syncCount = 1
  }

  private static func band(_ kind: MPEGBandKind) -> MPEGDocument.Band {
    var band = MPEGDocument.Band()
    band.kind = kind
    (band.low, band.high) = kind == .curve ? (0, 1_000) : (65, 300)
    if kind == .curve { band.curve = .linear }
    return band
  }

  /// The nearest tick of a time; the difference is a loss.
  private mutating func ticks(_ seconds: Double, _ element: CompositionElement) -> Int {
    let exact = seconds * Double(Self.timescale)
    let rounded = exact.rounded()
    let error = abs(exact - rounded) / Double(Self.timescale)
    if error > 1e-7 {
      losses.add(
        .approximated, .composition,
        "times are rounded to ticks of 1/\(Self.timescale) s, by up to # µs", size: error * 1e6)
    }
    return FrameConversion.integer(rounded, in: 0...FrameConversion.longestInteger)
  }

  private mutating func key(_ position: Int, amplitude: Double, sharpness: Double) -> MPEGDocument.Key {
    let exact = SharpnessScale.mpeg.hertz(ofSharpness: sharpness)
    let hertz = exact.rounded()
    if abs(exact - hertz) > 1e-4 {
      losses.add(
        .approximated, .composition, "frequencies are rounded to whole hertz, by up to # Hz",
        size: abs(exact - hertz))
    }
    return MPEGDocument.Key(position: Int32(clamping: position), amplitude: Float(amplitude), frequency: Float(hertz))
  }

  /// Whether one more effect can be written, and so many keys.
  private mutating func hasRoom(_ keys: Int, _ element: CompositionElement) -> Bool {
    guard effectCount < Self.limits.effects, keyCount + keys <= Self.limits.keys else {
      losses.add(.dropped, element, "the file can hold no more effects")
      return false
    }
    effectCount += 1
    keyCount += keys
    return true
  }

  // MARK: - Events

  private mutating func addTransients(_ envelopes: [EventEnvelope]) {
    var band = Self.band(.transient)
    var effect = MPEGDocument.Effect()
    for envelope in envelopes {
      let point = envelope.points[0]
      let position = ticks(point.time, .event(envelope.event))
      if effect.keys.isEmpty || position - effect.position > Self.longestEffect {
        if !effect.keys.isEmpty { band.effects.append(effect) }
        guard hasRoom(1, .event(envelope.event)) else { break }
        effect = MPEGDocument.Effect()
        // The first one starts with the file, as those of the reference software do.
        effect.position = band.effects.isEmpty && position <= Self.longestEffect ? 0 : position
      } else {
        keyCount += 1
      }
      effect.keys.append(
        key(
          position - effect.position, amplitude: point.level * MPEGMapping.transientAmplitude,
          sharpness: point.sharpness))
    }
    if !effect.keys.isEmpty { band.effects.append(effect) }
    bands.append(band)
    ends.append(.max)
  }

  private mutating func add(_ envelope: EventEnvelope) {
    let element = CompositionElement.event(envelope.event)
    let start = ticks(envelope.start, element)
    guard ticks(envelope.end, element) - start <= Self.longestEffect else {
      losses.add(.dropped, element, "the event lasts more than \(Self.longestEffect / Self.timescale) s")
      return
    }
    var keys: [MPEGDocument.Key] = []
    for point in envelope.points {
      let next = key(
        ticks(point.time, element) - start, amplitude: point.level * MPEGMapping.continuousAmplitude,
        sharpness: point.sharpness)
      // Two keys at one tick are a jump; what is between them cannot be told apart.
      if keys.count > 1, keys[keys.count - 2].position == next.position { keys.removeLast() }
      if keys.last != next { keys.append(next) }
    }
    guard let last = keys.last, last.position > 0, keys.count > 1 else {
      losses.add(.dropped, element, "the event lasts less than a tick")
      return
    }
    append(keys, at: start, to: Self.band(.vectorial), element)
  }

  private mutating func append(
    _ keys: [MPEGDocument.Key], at start: Int, to kind: MPEGDocument.Band, _ element: CompositionElement
  ) {
    let end = start + Int(keys[keys.count - 1].position)
    var index = bands.indices.first { bands[$0].kind == kind.kind && ends[$0] <= start }
    if index == nil {
      guard bands.count < Self.limits.bands else {
        losses.add(.dropped, element, "the file can hold no more effects that sound at once")
        return
      }
      index = bands.count
      bands.append(kind)
      ends.append(0)
    }
    guard let index else { return }
    ends[index] = end
    guard hasRoom(keys.count, element) else { return }
    var effect = MPEGDocument.Effect(isWave: kind.kind == .vectorial)
    effect.position = start + Int(keys[0].position)
    effect.keys = keys
    for index in effect.keys.indices { effect.keys[index].position -= keys[0].position }
    bands[index].effects.append(effect)
  }

  // MARK: - Signals

  private mutating func add(_ signal: SampledSignal, of layer: Int) {
    guard !signal.samples.isEmpty, SampledSignal.rates.contains(signal.rate), signal.time >= 0,
      signal.time + signal.duration <= FrameConversion.longest
    else {
      losses.add(.dropped, .layer(layer), "a signal that cannot be rendered is not written")
      return
    }
    let points = signal.samples.enumerated().map { index, sample in
      EnvelopePoint(
        time: signal.time + Double(index) / signal.rate,
        level: Double(sample.isFinite ? sample : 0) * MPEGMapping.continuousAmplitude, sharpness: 0)
    }
    let reduced = PointReduction(points, tolerance: Self.signalTolerance, sharpnessWeight: 0)
    if reduced.error > 1e-6 {
      losses.add(
        .approximated, .layer(layer), "the samples of a signal become lines, off by up to # of full scale",
        size: reduced.error)
    }
    let start = ticks(signal.time, .layer(layer))
    var keys: [MPEGDocument.Key] = []
    for point in reduced.points {
      let clipped = min(max(point.level, -1), 1)
      if clipped != point.level {
        losses.add(
          .approximated, .layer(layer), "a signal is clipped by up to # of full scale",
          size: abs(point.level - clipped))
      }
      let next = MPEGDocument.Key(
        position: Int32(clamping: ticks(point.time, .layer(layer)) - start), amplitude: Float(clipped))
      if keys.last?.position == next.position { keys.removeLast() }
      keys.append(next)
    }
    guard keys.count > 1 else { return }
    append(keys, at: start, to: Self.band(.curve), .layer(layer))
  }
}
