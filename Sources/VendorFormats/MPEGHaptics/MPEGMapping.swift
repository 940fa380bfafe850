internal import HapticFormats
import Reading
import HapticModel

/// Turns the channels of a document into layers: waves and transients into events where events say the
/// same, everything else into sampled signals.
struct MPEGMapping {
  /// The amplitude of a continuous event of intensity 1, and of a transient.
  ///
  /// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
  static let continuousAmplitude = 0.6138
  static let transientAmplitude = 0.792
  /// Seconds of a transient: two cycles of 90.9 Hz. Source: as above.
  private static let transientSeconds = 0.022
  /// Samples per second of curves and waves that become signals, for those of a minute at most and
  /// for longer ones, so that a small file cannot take much memory.
  private static let signalRates = (short: 48_000.0, long: 8_000.0)
  /// The most samples of all signals together.
  private static let sampleLimit = 1 << 24
  /// An amplitude of 0 as the binary file holds it: half a step below.
  static let quantisedZero: Float = -1 / 255 - 1e-6

  let document: MPEGDocument
  var resolver: MPEGResolver
  var losses = LossLog()
  private(set) var layers: [HapticComposition.Layer] = []
  /// Where layers and events are in the file.
  private(set) var layerPlaces: [Int] = []
  private(set) var eventPlaces: [[Int]] = []
  private var sampleCount = 0
  private var signalSeconds = 0.0
  private let sourcePlace: (Int) -> SourcePlace

  init(_ document: MPEGDocument, resolver: MPEGResolver, sourcePlace: @escaping (Int) -> SourcePlace) {
    self.document = document
    self.resolver = resolver
    self.sourcePlace = sourcePlace
  }

  /// The layers of all channels; nothing is sampled for a document that has errors.
  mutating func map() {
    noteWhatIsLeftOut()
    guard resolver.log.errorCount == 0 else { return }
    for channel in resolver.channels { map(channel) }
    if layers.isEmpty {
      layers = [HapticComposition.Layer(HapticPattern())]
      layerPlaces = [0]
      eventPlaces = [[]]
    }
  }

  private mutating func append(_ layer: HapticComposition.Layer, at place: Int, events: [Int]) {
    layers.append(layer)
    layerPlaces.append(place)
    eventPlaces.append(events)
  }

  private mutating func refuse(_ place: Int, _ message: String) {
    resolver.log.add(resolver.rules.tooLarge, value: place, offset: resolver.offset(place), message)
  }

  // MARK: - Channels

  private mutating func map(_ channel: MPEGResolver.Channel) {
    switch channel.modality.playing {
    case .asItIs: break
    case .asVibration:
      losses.add(
        .approximated, .composition, at: sourcePlace(channel.place), "\(channel.modality.name) is played as vibration")
    case .notAtAll:
      losses.add(
        .dropped, .composition, at: sourcePlace(channel.place),
        "\(channel.modality.name) cannot be played as vibration over time")
      return
    }
    var bent = LayerBuilder()
    var bentPlaces: [Int] = []
    // Events without curves need no builder, which would hold very many of them twice.
    var plain: [HapticEvent] = []
    var plainPlaces: [Int] = []
    let transients = channel.bands.lazy.filter { $0.description.kind == .transient }
    let count = transients.flatMap(\.effects).reduce(0) { $0 + $1.keys.count }
    plain.reserveCapacity(count)
    plainPlaces.reserveCapacity(count)
    var signals: [SampledSignal] = []
    for band in channel.bands {
      switch band.description.kind {
      case .transient:
        for effect in band.effects { add(transients: effect, gain: channel.gain, to: &plain, &plainPlaces) }
      case .vectorial:
        for effect in band.effects {
          if let event = WaveEvent(effect, timescale: document.timescale, gain: channel.gain) {
            guard let made = make(event, of: effect) else { continue }
            if event.curves.isEmpty {
              plain.append(made)
              plainPlaces.append(effect.place)
            } else {
              bent.add(made, curves: event.curves, until: made.time + (made.duration ?? 0))
              bentPlaces.append(effect.place)
            }
          } else if let signal = sampled(wave: effect, gain: channel.gain) {
            signals.append(signal)
          }
        }
      case .curve:
        for effect in band.effects {
          if let signal = sampled(curve: effect, of: band.description, gain: channel.gain) { signals.append(signal) }
        }
      case .wavelet: if let signal = sampled(blocks: band, gain: channel.gain) { signals.append(signal) }
      }
    }
    if !plain.isEmpty || !signals.isEmpty {
      append(
        HapticComposition.Layer(HapticPattern(events: plain), signals: signals, name: channel.name), at: channel.place,
        events: plainPlaces)
    }
    guard !bentPlaces.isEmpty else { return }
    let built = bent.build()
    var eventPlaces = built.layers.map { Array(repeating: 0, count: $0.pattern.events.count) }
    for (place, reference) in zip(bentPlaces, built.references) {
      eventPlaces[reference.layer][reference.event] = place
    }
    for (index, layer) in built.layers.enumerated() {
      var layer = layer
      layer.name = channel.name
      append(layer, at: channel.place, events: eventPlaces[index])
    }
  }

  private func seconds(_ ticks: Int) -> Double { Double(ticks) / Double(document.timescale) }

  // MARK: - Events

  private mutating func add(
    transients effect: MPEGDocument.Effect, gain: Double, to events: inout [HapticEvent], _ places: inout [Int]
  ) {
    for key in effect.keys {
      let amplitude = abs(Double(key.amplitude)) * gain
      let intensity = amplitude / Self.transientAmplitude
      // Without a frequency it is that of the burst, which is always the same.
      let hertz = key.frequency.isNaN ? 2 / Self.transientSeconds : Double(key.frequency)
      let sharpness = SharpnessScale.mpeg.sharpness(ofHertz: hertz)
      noteClamping(intensity, sharpness, amplitude, hertz, of: effect)
      var parameters = EventParameters()
      parameters[.hapticIntensity] = Float(min(intensity, 1))
      parameters[.hapticSharpness] = Float(min(max(sharpness, 0), 1))
      events.append(
        HapticEvent(kind: .hapticTransient, time: seconds(effect.position + Int(key.position)), parameters: parameters))
      places.append(Int(key.place) == 0 ? effect.place : Int(key.place))
    }
  }

  /// The event of a wave, or nothing and a loss where it lasts no time.
  private mutating func make(_ wave: WaveEvent, of effect: MPEGDocument.Effect) -> HapticEvent? {
    if let amplitude = wave.greatestAmplitude, amplitude > Self.continuousAmplitude {
      noteClamping(amplitude / Self.continuousAmplitude, 0.5, amplitude, 0, of: effect)
    }
    for hertz in wave.outermostHertz {
      noteClamping(0, SharpnessScale.mpeg.sharpness(ofHertz: hertz), 0, hertz, of: effect)
    }
    if wave.event == nil {
      losses.add(.dropped, .composition, at: sourcePlace(effect.place), "waves that last no time are silent")
    }
    return wave.event
  }

  private mutating func noteClamping(
    _ intensity: Double, _ sharpness: Double, _ amplitude: Double, _ hertz: Double, of effect: MPEGDocument.Effect
  ) {
    if intensity > 1 + 1e-6 {
      losses.add(
        .approximated, .composition, at: sourcePlace(effect.place),
        "amplitudes above that of intensity 1 are clamped by up to # of full scale",
        size: amplitude - amplitude / intensity)
    }
    if sharpness < -1e-6 || sharpness > 1 + 1e-6 {
      losses.add(
        .approximated, .composition, at: sourcePlace(effect.place),
        "frequencies outside 65 to 300 Hz are clamped by up to # Hz",
        size: sharpness < 0 ? 65 - hertz : hertz - 300)
    }
  }

  // MARK: - Signals

  private static func rate(of seconds: Double) -> Double { seconds <= 60 ? signalRates.short : signalRates.long }

  /// Whether some more samples fit; an error where they do not.
  private mutating func hasRoom(for seconds: Double, rate: Double, at place: Int) -> Bool {
    let count = seconds * rate + 1
    guard signalSeconds + seconds <= SampledSignal.longestTotal, Double(sampleCount) + count <= Double(Self.sampleLimit)
    else {
      refuse(place, "curves, wavelets and shaped waves last too long to be played as samples")
      return false
    }
    sampleCount += Int(count)
    signalSeconds += seconds
    return true
  }

  private mutating func sampled(wave effect: MPEGDocument.Effect, gain: Double)
    -> SampledSignal?
  {
    let ticks = Double(effect.keys.last?.position ?? 0)
    let first = Double(effect.keys.first?.position ?? 0)
    let duration = (ticks - first) / Double(document.timescale)
    guard resolver.log.errorCount == 0, hasRoom(for: duration, rate: Self.rate(of: duration), at: effect.place) else {
      return nil
    }
    let rate = Self.rate(of: duration)
    var wave = VectorialWave(effect, timescale: document.timescale)
    let step = Double(document.timescale) / rate
    let count = Int((duration * rate).rounded(.down)) + 1
    let samples = (0..<count).map { frame in
      Float(wave.value(at: min(first + Double(frame) * step, ticks)) * gain / Self.continuousAmplitude)
    }
    return SampledSignal(
      time: seconds(effect.position) + first / Double(document.timescale), rate: rate, samples: samples)
  }

  private mutating func sampled(curve effect: MPEGDocument.Effect, of band: MPEGDocument.Band, gain: Double)
    -> SampledSignal?
  {
    guard let first = effect.keys.first?.position, let last = effect.keys.last?.position, last > first else {
      losses.add(.dropped, .composition, at: sourcePlace(effect.place), "curves that last no time are silent")
      return nil
    }
    let duration = Double(last - first) / Double(document.timescale)
    let rate = Self.rate(of: duration)
    let scale = rate / Double(document.timescale)
    guard resolver.log.errorCount == 0, hasRoom(for: duration, rate: rate, at: effect.place) else { return nil }
    let factor = gain / Self.continuousAmplitude
    let points = effect.keys.map {
      CurveInterpolator.Point(x: Double($0.position - first) * scale, y: Double($0.amplitude) * factor)
    }
    let samples = CurveInterpolator(points: points).samples(band.curve)
    return SampledSignal(time: seconds(effect.position + Int(first)), rate: rate, samples: samples.map { Float($0) })
  }

  private mutating func sampled(blocks band: MPEGResolver.Band, gain: Double) -> SampledSignal? {
    let rate = band.description.high
    guard !band.effects.isEmpty, let count = WaveletBlock(band.description, timescale: document.timescale).count else {
      return nil
    }
    guard SampledSignal.rates.contains(rate) else {
      losses.add(
        .dropped, .composition, at: sourcePlace(band.description.place),
        "wavelets of less than 100 samples a second are silent")
      return nil
    }
    guard resolver.log.errorCount == 0,
      hasRoom(for: Double(count * band.effects.count) / rate, rate: rate, at: band.description.place)
    else { return nil }
    var samples: [Float] = []
    samples.reserveCapacity(count * band.effects.count)
    for effect in band.effects {
      for sample in WaveletDecoder.samples(of: effect.stream, count: count) {
        samples.append(Float(sample * gain / Self.continuousAmplitude))
      }
    }
    return SampledSignal(time: 0, rate: rate, samples: samples)
  }

  // MARK: - What is left out

  /// Notes what the document says and no composition can hold.
  private mutating func noteWhatIsLeftOut() {
    func text(_ count: Int, _ one: String, _ several: String) -> String {
      count == 1 ? "1 \(one)" : "\(count) \(several)"
    }
    if let first = document.avatars.first {
      losses.add(
        .dropped, .composition, at: sourcePlace(first.place),
        "\(text(document.avatars.count, "avatar", "avatars")): bodies have no places here")
    }
    if document.syncCount > 1 { losses.add(.dropped, .composition, "\(document.syncCount) points of synchronisation") }
    for perception in document.perceptions {
      if !perception.deviceNames.isEmpty {
        losses.add(
          .dropped, .composition, at: sourcePlace(perception.place),
          "the data of \(text(perception.deviceNames.count, "reference device", "reference devices"))")
      }
      for channel in perception.channels where channel.isLocated {
        losses.add(
          .dropped, .composition, at: sourcePlace(channel.place),
          "the place of a channel on the body; all channels sound together")
      }
      var semantic: Int?
      for channel in perception.channels {
        for band in channel.bands where semantic == nil { semantic = band.effects.first { $0.semantics != nil }?.place }
      }
      if let semantic { losses.add(.dropped, .composition, at: sourcePlace(semantic), "semantic keywords of effects") }
    }
  }
}
