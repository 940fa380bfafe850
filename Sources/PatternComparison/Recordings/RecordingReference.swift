import HapticModel
import HapticRender
import SignalAnalysis

/// The take that a recording is held against, as the sum of the sounds of its events.
struct RecordingReference {
  /// Frames per second, about 4,000.
  let rate: Double
  /// The sounds by time.
  var stems: [Stem]
  /// Numbers of stems that cannot be distinguished, by time.
  private(set) var groups: [[Int]] = []
  /// All stems together.
  private(set) var whole: [Float] = []
  /// The greatest magnitude.
  private(set) var peak = 0.0
  /// Renders single events again; nil for a sound.
  let renderer: EventRenderer?

  /// Stems that overlap and correlate above this are one.
  private static let sameness = 0.97
  /// Samples of a stem at both ends below this share of its peak are left out.
  private static let audible: Float = 1e-3

  /// Seconds from the reference's start to the end of its last sound.
  var duration: Double { stems.map(\.end).max() ?? 0 }

  init(stems: [Stem], rate: Double, renderer: EventRenderer?) {
    self.rate = rate
    self.stems = stems.filter { $0.energy > 0 }.sorted { $0.time < $1.time }
    self.renderer = renderer
    let count = max(0, Int(duration * rate)) + 64
    for stem in self.stems {
      let column = stem.column(onset: stem.time, speed: 1, count: count)
      if whole.isEmpty { whole = [Float](repeating: 0, count: count) }
      Samples.add(column.samples, times: 1, to: &whole, at: column.start)
    }
    peak = Double(SignalPair.peak(whole))
    findGroups()
  }

  private mutating func findGroups() {
    let count = whole.count
    var columns: [Column] = []
    for (index, stem) in stems.enumerated() {
      let column = stem.column(onset: stem.time, speed: 1, count: count)
      let energy = Samples.energy(column.samples)
      let like = groups.indices.suffix(12).first { group in
        let other = columns[group]
        let product = column.dot(other)
        return product > Self.sameness * (energy * Samples.energy(other.samples)).squareRoot()
      }
      if let like {
        groups[like].append(index)
      } else {
        groups.append([index])
        columns.append(column)
      }
    }
  }

  /// Cuts silence off both ends of samples; nil where there is nothing else.
  static func trimmed(_ event: ListedEvent, _ samples: ArraySlice<Float>, rate: Double, least: Float) -> Stem? {
    let threshold = max(SignalPair.peak(samples) * audible, least)
    guard let first = samples.firstIndex(where: { abs($0) > threshold }),
      let last = samples.lastIndex(where: { abs($0) > threshold })
    else { return nil }
    let margin = Int(0.004 * rate)
    let range = max(samples.startIndex, first - margin)..<min(samples.endIndex, last + 1 + margin)
    return Stem(
      event, time: event.time, origin: Double(range.lowerBound) / rate - event.time, samples: Array(samples[range]),
      rate: rate)
  }
}

extension RecordingReference {
  /// Cuts a sound into what stands between its silences, and there at its onsets.
  ///
  /// - Parameter noise: The mean square of its own noise.
  init(_ signal: LowRateSignal, noise: Double) {
    let silence = max(SignalPair.silence(signal.samples), Float(4.5 * noise.squareRoot()))
    let regions = ActiveRegion.find(in: signal.samples, rate: signal.rate, threshold: silence)
    let onsets = Onsets(in: Signal(signal.samples, rate: signal.rate)).map { Int($0.time * signal.rate) }
    var parts: [ActiveRegion] = []
    for region in regions {
      var start = region.frames.lowerBound
      for onset in onsets
      where onset > start + Int(0.03 * signal.rate) && onset < region.frames.upperBound - Int(0.01 * signal.rate) {
        parts.append(ActiveRegion(frames: start..<onset, rate: signal.rate))
        start = onset
      }
      parts.append(ActiveRegion(frames: start..<region.frames.upperBound, rate: signal.rate))
    }
    ActiveRegion.number(&parts)
    let margin = Int(0.008 * signal.rate)
    var stems: [Stem] = []
    for (index, part) in parts.prefix(2_000).enumerated() {
      // Neighbours that touch meet where one begins; others keep what fades around them.
      let before = index > 0 ? parts[index - 1].frames.upperBound : 0
      let behind = index + 1 < parts.count ? parts[index + 1].frames.lowerBound : signal.samples.count
      let range = max(before, part.frames.lowerBound - margin)..<min(behind, part.frames.upperBound + margin)
      stems.append(
        Stem(
          part.event(), time: part.start, origin: Double(range.lowerBound - part.frames.lowerBound) / signal.rate,
          samples: Array(signal.samples[range]), rate: signal.rate))
    }
    self.init(stems: stems, rate: signal.rate, renderer: nil)
  }

  /// Renders the events of a pattern by themselves; nil where they do not add up to its sound.
  ///
  /// Events that do not overlap are rendered at once. What no event that was rendered accounts for,
  /// a sound file's sound above all, is cut like a sound.
  ///
  /// - Parameter signal: The whole as it was rendered.
  init?(_ take: Take, _ signal: LowRateSignal) {
    guard let composition = take.composition else { return nil }
    let renderer = EventRenderer(composition, profile: take.profile, rate: take.signal.rate)
    let events = ListedEvent.list(composition).filter { !$0.kind.playsFile }
    guard events.count <= 2_000, let parts = renderer.parts(of: events, count: take.signal.frameCount) else {
      return nil
    }
    var rest = signal.samples
    for part in parts { Samples.add(part.samples, times: -1, to: &rest, at: 0) }
    let least = SignalPair.peak(signal.samples) * 1e-4
    var stems: [Stem] = []
    for part in parts {
      for (event, range) in part.events {
        let slice = part.samples[range.clamped(to: part.samples.indices)]
        if let stem = Self.trimmed(event, slice, rate: signal.rate, least: least) { stems.append(stem) }
      }
    }
    let hasSounds = composition.layers.contains {
      !$0.signals.isEmpty || $0.pattern.events.contains { $0.kind.playsFile }
    }
    let share = Samples.energy(rest) / max(Samples.energy(signal.samples), 1e-30)
    if share > 0.1, !hasSounds { return nil }
    if share > 1e-8 { Self.distribute(rest, over: &stems, rate: signal.rate, hasSounds: hasSounds) }
    self.init(stems: stems, rate: signal.rate, renderer: renderer)
  }

  /// Adds what the events rendered by themselves do not account for to the loudest of them there.
  private static func distribute(_ rest: [Float], over stems: inout [Stem], rate: Double, hasSounds: Bool) {
    var samples = stems.map(\.samples)
    let starts = stems.map { Int(($0.start * rate).rounded()) }
    let block = Int(0.01 * rate)
    var left = rest
    for first in stride(from: 0, to: rest.count, by: block) {
      let range = first..<min(rest.count, first + block)
      guard Samples.energy(rest, range) > 0 else { continue }
      var best = (energy: 0.0, stem: -1)
      for index in samples.indices
      where starts[index] <= range.lowerBound && starts[index] + samples[index].count >= range.upperBound {
        let energy = Samples.energy(samples[index], range.lowerBound - starts[index]..<range.upperBound - starts[index])
        if energy > best.energy { best = (energy, index) }
      }
      guard best.stem >= 0, Samples.energy(rest, range) < best.energy || !hasSounds else { continue }
      for index in range {
        samples[best.stem][index - starts[best.stem]] += rest[index]
        left[index] = 0
      }
    }
    for index in stems.indices { stems[index] = stems[index].with(samples: samples[index]) }
    guard hasSounds else { return }
    let islands = RecordingReference(LowRateSignal(of: left, rate: rate, target: rate), noise: 0)
    for var stem in islands.stems {
      let number = stem.event.number
      stem.event = ListedEvent(HapticEvent(kind: .audioCustom, time: stem.time), index: 0)
      stem.event.number = number
      stems.append(stem)
    }
  }
}
