internal import CMath
internal import HapticFormats
import Reading
import HapticModel

/// What a document of either file becomes.
extension Examination {
  /// What a document of either file becomes.
  ///
  /// - Parameters:
  ///   - offset: Where a part is in the file, for the order of findings.
  ///   - place: The place of a part, or of an offset in it.
  init(
    of document: MPEGDocument, _ log: FindingLog, _ options: ReadingOptions,
    offset: @escaping (Int) -> Int,
    place: @escaping @Sendable (_ part: Int, _ offset: Int?) -> SourcePlace
  ) {
    let resolver = MPEGResolver(document, log: log, offset: offset)
    var mapping = MPEGMapping(
      document: document, resolver: resolver, sourcePlace: { place($0, nil) },
      signalRate: options.signalRate)
    mapping.map()
    let log = mapping.resolver.log
    let losses = mapping.losses.finish()
    // What is clamped alone has a size; it sounds otherwise than the file says.
    let clamped = losses.filter { $0.size != nil }.map {
      Finding(.mpegClamped, place: $0.place ?? place(0, nil), $0.message)
    }
    var composition = HapticComposition(layers: mapping.layers)
    if !document.description.isEmpty {
      composition.notes = document.description
    }
    self.init(
      composition: log.errorCount == 0 ? composition : nil,
      findings: log.findings(for: options) { place($0, $1) } + clamped, errorCount: log.errorCount,
      losses: log.errorCount == 0 && options.wantsFindings ? losses : [],
      places: SourcePlaces(layers: mapping.layerPlaces, events: mapping.eventPlaces) {
        place($0, nil)
      },
      details: document.details)
  }
}

extension MPEGDocument {
  fileprivate var details: [(name: String, value: String)] {
    var details = [
      ("version", version), ("profile", "\(profile)@\(level)"), ("date", date),
      ("timescale", "\(timescale)"),
    ]
    for perception in perceptions {
      details.append(("modality", perception.modality.word))
      details += perception.deviceNames.map { ("device", $0) }
    }
    return details.filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
  }
}

/// Turns the channels of a document into layers: waves and transients into events where events say
/// the same, everything else into sampled signals.
struct MPEGMapping {
  /// The amplitude of a continuous event of intensity 1, and of a transient. Source:
  /// MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
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
  private(set) var layerPlaces: [Int] = []
  private(set) var eventPlaces: [[Int]] = []
  fileprivate var sampleCount = 0
  fileprivate var signalSeconds = 0.0
  fileprivate let sourcePlace: (Int) -> SourcePlace
  /// The rate at which channels become one signal each, or nil for events wherever they say the
  /// same.
  var signalRate: Double?

  mutating func map() {
    noteWhatIsLeftOut()
    guard resolver.log.errorCount == 0 else { return }
    for (index, channel) in resolver.channels.enumerated() {
      let count = resolver.channels.count
      map(
        channel,
        at: count > 1 ? HapticComposition.Place(index + 1, of: count, name: channel.name) : nil)
    }
    if layers.isEmpty {
      layers = [HapticComposition.Layer(HapticPattern())]
    }
  }

  private mutating func lose(
    _ kind: Loss.Kind, at place: Int, _ message: String, size: Double? = nil
  ) {
    losses.add(kind, .composition, at: sourcePlace(place), message, size: size)
  }

  // MARK: - Channels

  private mutating func map(_ channel: MPEGResolver.Channel, at felt: HapticComposition.Place?) {
    switch channel.modality.playing {
    case .asItIs:
      break
    case .asVibration:
      lose(.approximated, at: channel.place, "\(channel.modality.word) is played as vibration")
    case .notAtAll:
      return lose(
        .dropped, at: channel.place,
        "\(channel.modality.word) cannot be played as vibration over time")
    }
    var builder = LayerBuilder()
    var places: [Int] = []
    var signals: [SampledSignal] = []
    for band in channel.bands {
      for effect in band.effects where signalRate == nil {
        switch band.description.kind {
        case .transient:
          add(transients: effect, gain: channel.gain, to: &builder, &places)
        case .vectorial:
          if let wave = WaveEvent(effect, timescale: document.timescale, gain: channel.gain) {
            guard let event = make(wave, of: effect) else { continue }
            builder.add(event, curves: wave.curves, until: event.time + (event.duration ?? 0))
            places.append(effect.place)
          } else if let signal = sampled(effect, of: band.description, gain: channel.gain) {
            signals.append(signal)
          }
        case .curve:
          if let signal = sampled(effect, of: band.description, gain: channel.gain) {
            signals.append(signal)
          }
        case .wavelet:
          break
        }
      }
      if band.description.kind == .wavelet, let signal = sampled(blocks: band, gain: channel.gain) {
        signals.append(signal)
      }
    }
    if let signalRate, let sum = sum(of: channel, rate: signalRate) {
      signals.append(sum)
    }
    var (made, references) = builder.build()
    var eventPlaces = places.isEmpty ? [[]] : [[Int]](places, at: references)
    if !signals.isEmpty, !(made[0].pattern.curves.isEmpty) {
      // Signals are with the events that no curve acts on.
      made.insert(HapticComposition.Layer(HapticPattern()), at: 0)
      eventPlaces.insert([], at: 0)
    }
    made[0].signals = signals
    for (var layer, events) in zip(made, eventPlaces) where !layer.isEmpty {
      layer.name = channel.name
      layer.place = felt
      layers.append(layer)
      layerPlaces.append(channel.place)
      self.eventPlaces.append(events)
    }
  }

  private func seconds(_ ticks: Int) -> Double { Double(ticks) / Double(document.timescale) }

  // MARK: - Events

  private mutating func add(
    transients effect: MPEGDocument.Effect, gain: Double, to builder: inout LayerBuilder,
    _ places: inout [Int]
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
      builder.add(
        HapticEvent(
          kind: .hapticTransient, time: seconds(effect.position + Int(key.position)),
          parameters: parameters))
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
      lose(.dropped, at: effect.place, "waves that last no time are silent")
    }
    return wave.event
  }

  private mutating func noteClamping(
    _ intensity: Double, _ sharpness: Double, _ amplitude: Double, _ hertz: Double,
    of effect: MPEGDocument.Effect
  ) {
    if intensity > 1 + 1e-6 {
      lose(
        .approximated, at: effect.place,
        "amplitudes above that of intensity 1 are clamped by up to # of full scale",
        size: amplitude - amplitude / intensity)
    }
    if sharpness < -1e-6 || sharpness > 1 + 1e-6 {
      lose(
        .approximated, at: effect.place,
        "frequencies outside 65 to 300 Hz are clamped by up to # Hz",
        size: sharpness < 0 ? 65 - hertz : hertz - 300)
    }
  }

  // MARK: - Signals

  /// Whether some more samples fit; an error where they do not.
  private mutating func hasRoom(for seconds: Double, rate: Double, at place: Int) -> Bool {
    let count = seconds * rate + 1
    guard signalSeconds + seconds <= SampledSignal.longestTotal,
      Double(sampleCount) + count <= Double(Self.sampleLimit)
    else {
      resolver.log.add(
        .mpegTooLarge, value: place, offset: resolver.offset(place),
        "curves, wavelets and waves last too long to be played as samples")
      return false
    }
    sampleCount += FrameConversion.integer(count.rounded(.down))
    signalSeconds += seconds
    return true
  }

  /// The samples of a curve, or of a wave that no event describes.
  private mutating func sampled(
    _ effect: MPEGDocument.Effect, of band: MPEGDocument.Band, gain: Double
  )
    -> SampledSignal?
  {
    guard let first = effect.keys.first?.position, let last = effect.keys.last?.position else {
      return nil
    }
    guard band.kind != .curve || last > first else {
      lose(.dropped, at: effect.place, "curves that last no time are silent")
      return nil
    }
    let duration = Double(last - first) / Double(document.timescale)
    let rate = duration <= 60 ? Self.signalRates.short : Self.signalRates.long
    guard resolver.log.errorCount == 0, hasRoom(for: duration, rate: rate, at: effect.place) else {
      return nil
    }
    let samples: [Double]
    if band.kind == .curve {
      let scale = rate / Double(document.timescale)
      let factor = gain / Self.continuousAmplitude
      let points = effect.keys.map {
        CurveInterpolator.Point(
          x: Double($0.position - first) * scale, y: Double($0.amplitude) * factor)
      }
      samples = CurveInterpolator(points: points).samples(band.curve)
    } else {
      var wave = VectorialWave(effect, timescale: document.timescale)
      let step = Double(document.timescale) / rate
      samples =
        (0...FrameConversion.integer((duration * rate).rounded(.down), in: 0...Self.sampleLimit))
        .map { frame in
          wave.value(at: min(Double(first) + Double(frame) * step, Double(last))) * gain
            / Self.continuousAmplitude
        }
    }
    return SampledSignal(
      time: seconds(effect.position + Int(first)), rate: rate, samples: samples.map { Float($0) })
  }

  /// The sum of a channel's transients, waves and curves, each exact at each frame; nothing is
  /// clamped. As in the reference software, effects have both their first and their last frame,
  /// waves sound from the position of their effect, and the frame at the end of the channel is left
  /// out.
  private mutating func sum(of channel: MPEGResolver.Channel, rate: Double) -> SampledSignal? {
    let perTick = rate / Double(document.timescale)
    let burst = Self.transientSeconds * Double(document.timescale)
    var end = 0.0
    for band in channel.bands where band.description.kind != .wavelet {
      let tail = band.description.kind == .transient ? burst : 0
      for effect in band.effects {
        let lastKey = Double(effect.keys.last?.position ?? 0)
        end = max(end, Double(effect.position) + lastKey + tail)
      }
    }
    let count = FrameConversion.integer((end * perTick).rounded())
    guard count > 0, resolver.log.errorCount == 0,
      hasRoom(for: end * perTick / rate, rate: rate, at: channel.place)
    else { return nil }
    var samples = [Float](repeating: 0, count: count)
    let gain = channel.gain / Self.continuousAmplitude
    func add(from start: Double, to end: Double, _ value: (_ position: Double) -> Double) {
      let last = min(FrameConversion.integer((end * perTick).rounded(.down)), count - 1)
      for frame in stride(
        from: FrameConversion.integer((start * perTick).rounded(.up)), through: last, by: 1)
      {
        samples[frame] += Float(value(Double(frame) / perTick) * gain)
      }
    }
    for band in channel.bands {
      for effect in band.effects {
        let start = Double(effect.position)
        switch band.description.kind {
        case .transient:
          for key in effect.keys {
            let onset = start + Double(key.position)
            add(from: onset, to: onset + burst) {
              sin(4 * .pi * ($0 - onset) / burst) * Double(key.amplitude)
            }
          }
        case .vectorial:
          var wave = VectorialWave(effect, timescale: document.timescale)
          add(from: start, to: start + Double(effect.keys.last?.position ?? 0)) {
            wave.value(at: $0 - start)
          }
        case .curve:
          let keys = effect.keys.map {
            (frame: (start + Double($0.position)) * perTick, value: Double($0.amplitude))
          }
          guard let first = keys.first?.frame.rounded(.down) else { continue }
          let curve = CurveInterpolator(
            points: keys.map { .init(x: $0.frame - first, y: $0.value) })
          for (index, value) in curve.samples(band.description.curve).enumerated() {
            let frame = FrameConversion.integer(first) + index
            if frame < count {
              samples[frame] += Float(value * gain)
            }
          }
        case .wavelet:
          break
        }
      }
    }
    return SampledSignal(time: 0, rate: rate, samples: samples)
  }

  private mutating func sampled(blocks band: MPEGResolver.Band, gain: Double) -> SampledSignal? {
    let rate = band.description.high
    guard !band.effects.isEmpty,
      let count = WaveletBlock(band.description, timescale: document.timescale).count
    else {
      return nil
    }
    guard SampledSignal.rates.contains(rate) else {
      lose(
        .dropped, at: band.description.place,
        "wavelets of less than 100 samples a second are silent")
      return nil
    }
    guard resolver.log.errorCount == 0,
      hasRoom(
        for: Double(count * band.effects.count) / rate, rate: rate, at: band.description.place)
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

  private mutating func noteWhatIsLeftOut() {
    func text(_ count: Int, _ one: String, _ several: String) -> String {
      count == 1 ? "1 \(one)" : "\(count) \(several)"
    }
    if let first = document.avatars.first {
      lose(
        .dropped, at: first.place,
        "\(text(document.avatars.count, "avatar", "avatars")): bodies have no places here")
    }
    if document.syncCount > 1 {
      losses.add(.dropped, .composition, "\(document.syncCount) points of synchronisation")
    }
    for perception in document.perceptions {
      if !perception.deviceNames.isEmpty {
        lose(
          .dropped, at: perception.place,
          """
          the data of \
          \(text(perception.deviceNames.count, "reference device", "reference devices"))
          """
        )
      }
      for channel in perception.channels where channel.isLocated {
        lose(.dropped, at: channel.place, "the part of the body that a channel names")
      }
      var semantic: Int?
      for channel in perception.channels {
        for band in channel.bands where semantic == nil {
          semantic = band.effects.first { $0.semantics != nil }?.place
        }
      }
      if let semantic {
        lose(.dropped, at: semantic, "semantic keywords of effects")
      }
    }
  }
}

/// A vectorial wave as a continuous event with curves of its own.
struct WaveEvent {
  /// The event, or nothing for a wave that lasts no time.
  private(set) var event: HapticEvent?
  private(set) var curves: [ParameterCurve] = []
  private(set) var greatestAmplitude: Double?
  private(set) var outermostHertz: [Double] = []

  private typealias Line = [(time: Double, value: Double)]

  /// Nothing for a wave that no event describes: another shape than a sine, a phase, or amplitudes
  /// that turn it over.
  init?(_ effect: MPEGDocument.Effect, timescale: Int, gain: Double) {
    guard effect.signal == .sine, effect.phase == 0, gain >= 0,
      effect.keys.allSatisfy({ $0.amplitude.isNaN || $0.amplitude >= MPEGMapping.quantisedZero }),
      let first = effect.keys.first, let last = effect.keys.last
    else { return nil }
    let start = first.position
    func seconds(_ position: Int32) -> Double { Double(position - start) / Double(timescale) }
    let duration = seconds(last.position)
    var amplitudes: Line = effect.keys.filter { !$0.amplitude.isNaN }.map {
      (seconds($0.position), max(Double($0.amplitude), 0) * gain)
    }
    if amplitudes.isEmpty {
      amplitudes = [(0, gain)]
    }
    let hertz: Line = effect.keys.filter { !$0.frequency.isNaN }.map {
      (seconds($0.position), Double($0.frequency))
    }
    greatestAmplitude = amplitudes.map { $0.value }.max()
    outermostHertz = [hertz.map { $0.value }.min(), hertz.map { $0.value }.max()].compactMap { $0 }
    guard duration > 0 else { return }
    let intensity = Self.clamped(
      amplitudes.map { ($0.time, $0.value / MPEGMapping.continuousAmplitude) })
    let sharpness = Self.clamped(
      hertz.map { ($0.time, SharpnessScale.mpeg.sharpness(ofHertz: $0.value)) })
    let peak = intensity.map { $0.value }.max() ?? 0
    let begin = sharpness.first?.value ?? 0
    let time = (Double(effect.position) + Double(start)) / Double(timescale)
    event = HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: [.hapticIntensity: Float(peak), .hapticSharpness: Float(begin)])
    let isMoving =
      intensity.contains { abs($0.value - peak) > 1e-6 }
      || sharpness.contains { abs($0.value - begin) > 1e-6 }
    guard isMoving else { return }
    curves = [
      Self.curve(
        .hapticIntensityControl, at: time,
        intensity.map { ($0.time, peak > 0 ? $0.value / peak : 1) }),
      Self.curve(.hapticSharpnessControl, at: time, sharpness.map { ($0.time, $0.value - begin) }),
    ]
  }

  private static func curve(_ id: DynamicParameterID, at time: Double, _ line: Line)
    -> ParameterCurve
  {
    ParameterCurve(
      id: id, time: time, controlPoints: line.map { .init(time: $0.time, value: Float($0.value)) })
  }

  /// A line with corners where it leaves or enters 0…1, and clamped to that.
  private static func clamped(_ line: Line) -> Line {
    if line.allSatisfy({ 0...1 ~= $0.value }) { return line }
    var clamped: Line = []
    for (index, point) in line.enumerated() {
      if index > 0 {
        let last = line[index - 1]
        // A jump from one key to another of its position passes a bound without a time of its own.
        var crossings: Line = []
        for bound in [0.0, 1.0] where (last.value - bound) * (point.value - bound) < 0 {
          let share = (bound - last.value) / (point.value - last.value)
          crossings.append((last.time + (point.time - last.time) * share, bound))
        }
        clamped += last.value < point.value ? crossings : crossings.reversed()
      }
      clamped.append(point)
    }
    return clamped.map { ($0.time, min(max($0.value, 0), 1)) }
  }
}

/// The channels of a document as they are played: references replaced by what they name, effects
/// and keys sorted, what cannot sound left out and noted.
struct MPEGResolver {
  struct Channel {
    var name: String
    var modality: MPEGModality
    var gain: Double
    var bands: [Band]
    var place: Int
  }

  struct Band {
    var description: MPEGDocument.Band
    /// Basis effects by rising position, from the start of the document.
    var effects: [MPEGDocument.Effect]
  }

  /// The most key frames that are played, those of each reference counted.
  static let keyLimit = 4_000_000
  /// The most effects that are played.
  static let effectLimit = 2_000_000
  private static let depthLimit = 16

  /// Where a part is in the file, for the order of findings.
  let offset: (Int) -> Int
  var log: FindingLog
  private(set) var channels: [Channel] = []
  private var keyCount = 0
  private var effectCount = 0

  init(_ document: MPEGDocument, log: FindingLog, offset: @escaping (Int) -> Int) {
    self.log = log
    self.offset = offset
    for perception in document.perceptions {
      var library: [Int: MPEGDocument.Effect] = [:]
      for effect in perception.library {
        guard let id = effect.id else { continue }
        if library[id] == nil {
          library[id] = effect
        } else {
          note(.mpegDuplicateID, effect.place, "the library has another effect with id \(id)")
        }
      }
      for channel in perception.channels {
        channels.append(
          Channel(
            name: channel.description.isEmpty ? perception.description : channel.description,
            modality: perception.modality, gain: channel.gain * tenfold(perception.unitExponent),
            bands: channel.bands.map { resolved($0, timescale: document.timescale, library) },
            place: channel.place))
      }
    }
  }

  private mutating func note(_ rule: Rule, _ place: Int, _ message: @autoclosure () -> String) {
    log.add(rule, value: place, offset: offset(place), message())
  }

  private mutating func resolved(
    _ band: MPEGDocument.Band, timescale: Int, _ library: [Int: MPEGDocument.Effect]
  )
    -> Band
  {
    var description = band
    description.effects = []
    var effects: [MPEGDocument.Effect] = []
    if band.kind == .wavelet {
      let block = WaveletBlock(band, timescale: timescale)
      if block.count == nil {
        note(
          .mpegBlockLength, band.place,
          """
          a block of \(band.blockLength) ticks at \(band.high) samples a second is not a power \
          of two 
          """
            + "from 16 to 65536 samples; the band is silent")
        return Band(description: description, effects: [])
      }
    }
    for effect in band.effects {
      append(effect, at: 0, of: band, library, depth: 0, to: &effects)
    }
    let isSorted = zip(effects, effects.dropFirst()).allSatisfy { $0.position <= $1.position }
    if !isSorted, band.kind != .wavelet {
      let order = effects.indices.sorted { (effects[$0].position, $0) < (effects[$1].position, $1) }
      effects = order.map { effects[$0] }
    }
    return Band(description: description, effects: effects)
  }

  private mutating func append(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band,
    _ library: [Int: MPEGDocument.Effect],
    depth: Int, to effects: inout [MPEGDocument.Effect]
  ) {
    guard depth <= Self.depthLimit else {
      return note(.mpegTooLarge, effect.place, "effects refer to effects more than 16 deep")
    }
    effectCount += 1
    guard effectCount <= Self.effectLimit, keyCount <= Self.keyLimit else {
      if effectCount == Self.effectLimit + 1 || keyCount > Self.keyLimit {
        note(
          .mpegTooLarge, effect.place,
          "there are more than \(Self.effectLimit) effects or \(Self.keyLimit) key frames to play")
        keyCount = Self.keyLimit
        effectCount = Self.effectLimit + 2
      }
      return
    }
    switch effect.kind {
    case .basis:
      if let basis = basis(effect, at: start, of: band) {
        effects.append(basis)
      }
    case .reference:
      guard let id = effect.id, let named = library[id] else {
        let id = effect.id.map { "\($0)" } ?? "none"
        return note(
          .mpegUnknownReference, effect.place,
          "the library has no effect with the id of this reference, \(id)")
      }
      var copy = named
      copy.place = effect.place
      append(copy, at: start + effect.position, of: band, library, depth: depth + 1, to: &effects)
    case .composite:
      for child in effect.children {
        append(
          child, at: start + effect.position, of: band, library, depth: depth + 1, to: &effects)
      }
    }
  }

  /// An effect with its keys sorted, or nothing where it is silent.
  private mutating func basis(
    _ effect: MPEGDocument.Effect, at start: Int, of band: MPEGDocument.Band
  ) -> MPEGDocument
    .Effect?
  {
    var effect = effect
    effect.position += start
    if band.kind == .wavelet { return effect }
    keyCount += effect.keys.count
    let keys = effect.keys
    if !zip(keys, keys.dropFirst()).allSatisfy({ $0.position <= $1.position }) {
      note(.mpegKeyOrder, effect.place, "key frames are not sorted by position")
      let order = keys.indices.sorted { (keys[$0].position, $0) < (keys[$1].position, $1) }
      effect.keys = order.map { keys[$0] }
    }
    if band.kind != .vectorial, keys.contains(where: { $0.amplitude.isNaN }) {
      note(.mpegMissingAmplitude, effect.place, "a key frame has no amplitude and is ignored")
      effect.keys.removeAll { $0.amplitude.isNaN }
    }
    guard !effect.keys.isEmpty else {
      note(.mpegMissingKeys, effect.place, "the effect has no key frames and is silent")
      return nil
    }
    guard band.kind == .vectorial else { return effect }
    if !keys.contains(where: { !$0.frequency.isNaN }) {
      note(.mpegMissingFrequency, effect.place, "the wave has no frequency and is silent")
      return nil
    }
    if band.low < band.high,
      let outside = keys.first(where: {
        Double($0.frequency) < band.low || Double($0.frequency) > band.high
      })
    {
      note(
        .mpegFrequencyOutsideBand, effect.place,
        "\(outside.frequency) Hz is outside the band from \(band.low) to \(band.high) Hz")
      for index in effect.keys.indices where !effect.keys[index].frequency.isNaN {
        effect.keys[index].frequency = min(
          max(effect.keys[index].frequency, Float(band.low)), Float(band.high))
      }
    }
    return effect
  }
}

func tenfold(_ exponent: Int) -> Double {
  var value = 1.0
  for _ in 0..<abs(exponent) {
    value *= 10
  }
  return exponent < 0 ? 1 / value : value
}
