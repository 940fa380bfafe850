internal import Glibc
import SignalAnalysis

/// Looks for a reference of which one event that is much of it has changed, everywhere in a take.
///
/// Nothing else may hold the place of such a recording: at its true place too little fits. So the
/// whole with the changed event is held against the take at each delay, at one gain.
struct RecordingHypotheses: ~Copyable {
  /// A reference with one event changed, and where it is in the take.
  struct Hypothesis {
    /// The stem that changed.
    var index: Int
    /// What it sounds like then.
    var stem: Stem
    /// What changed: the event's frequency, by a ratio, or else its time.
    var ratio: Double?
    /// Seconds of the take at which the reference starts.
    var delay: Double
    /// 1 or −1.
    var sign: Double
    /// The share of the take's weighted energy that it explains.
    fileprivate var share: Double

    /// Where it is.
    var place: RecordingAlignment.Candidate {
      RecordingAlignment.Candidate(delay: delay, tempo: 0, sign: sign, sum: share)
    }
  }

  /// Seconds by which an event may have moved.
  private static let reach = 0.06
  /// Seconds from one rendering of an event that moves under controls to the next.
  private static let step = 0.005
  /// The most frequencies that are tried of an event.
  private static let greatestFrequencyCount = 48
  /// The greatest change of frequency, as a logarithm.
  private static let greatestFrequency = 0.56
  /// Seconds within which delays are one place.
  private static let sameness = 0.004

  /// The most that are looked at closely.
  private static let greatestCount = 3

  private var absent: [Hypothesis] = []
  private let reference: RecordingReference
  private let alignment: RecordingAlignment
  private let y: [Float]
  private var transform: FourierTransform
  private let take: [ComplexNumber]

  init(_ reference: RecordingReference, _ alignment: RecordingAlignment) {
    self.reference = reference
    self.alignment = alignment
    y = alignment.y
    let longest = reference.whole.count / 2 + Int(alignment.rate)
    transform = FourierTransform(length: FourierTransform.fastLength(atLeast: y.count + longest + 64))
    take = transform.forward(y)
  }

  /// The likeliest, each of another event, place or kind, and the likeliest of an event that is not there.
  mutating func best() -> [Hypothesis] {
    let whole = reference.stems.reduce(0) { $0 + $1.energy }
    let least = reference.stems.count <= 3 ? 0.1 : 0.25
    let strongest = reference.stems.indices.sorted { reference.stems[$0].energy > reference.stems[$1].energy }
    var found: [Hypothesis] = []
    for index in strongest.prefix(3) where reference.stems[index].energy > least * whole { found += hypotheses(index) }
    found.sort { $0.share > $1.share }
    var chosen: [Hypothesis] = []
    for next in found where chosen.count < Self.greatestCount {
      let isNew = chosen.allSatisfy {
        $0.index != next.index || ($0.ratio == nil) != (next.ratio == nil) || abs($0.delay - next.delay) > Self.sameness
      }
      if isNew { chosen.append(next) }
    }
    return chosen + (absent.max { $0.share < $1.share }.map { [$0] } ?? [])
  }

  private mutating func hypotheses(_ index: Int) -> [Hypothesis] {
    let count = reference.whole.count
    var rest = reference.whole
    let own = reference.stems[index].column(onset: reference.stems[index].time, speed: 1, count: count)
    Samples.add(own.samples, times: -1, to: &rest, at: own.start)
    let others = alignment.weighted(rest)
    let products = correlation(others)
    let energy = Samples.energy(others)
    var found: [Hypothesis] = []
    let faint = reference.stems[index].scaled(by: 1e-3)
    absent += explained(index, faint, ratio: 1, shifts: 0...0, others, products, energy)
    let variants = EventVariants(reference: reference)
    let seconds = Double(reference.stems[index].samples.count) / reference.rate
    let hertz = max(40, reference.stems[index].hertz)
    // A third of a turn more or less over its length.
    let step = max(2 * Self.greatestFrequency / Double(Self.greatestFrequencyCount), min(0.06, 0.6 / (hertz * seconds)))
    let steps = Int(Self.greatestFrequency / step)
    for number in -steps...steps where number != 0 {
      let ratio = exp(Double(number) * step)
      guard let stem = variants.frequency(of: index, times: ratio)?.stem else { continue }
      found += explained(index, stem, ratio: ratio, shifts: 0...0, others, products, energy)
    }
    // An event alone comes when the whole does.
    guard reference.stems.count > 1 else { return found }
    let hasControls = reference.renderer?.hasControls == true
    let spread = hasControls ? Self.step : 2 * Self.reach
    for shift in stride(from: -Self.reach, through: Self.reach, by: spread) {
      let middle = hasControls ? shift : 0
      let reach = Int((hasControls ? Self.step / 2 : Self.reach) * alignment.rate)
      guard let stem = variants.time(of: index, later: middle) else { continue }
      found += explained(index, stem, ratio: nil, shifts: -reach...reach, others, products, energy)
      if !hasControls { break }
    }
    return found
  }

  /// The best places of the others with an event's changed sound, some frames later.
  private mutating func explained(
    _ index: Int, _ stem: Stem, ratio: Double?, shifts: ClosedRange<Int>, _ others: [Float], _ products: [Float],
    _ energy: Double
  ) -> [Hypothesis] {
    let margin = Int(0.1 * reference.rate)
    let count = reference.whole.count
    let column = stem.column(onset: stem.time + 0.1, speed: 1, count: count + 2 * margin)
    var samples = [Float](repeating: 0, count: count + 2 * margin)
    Samples.add(column.samples, times: 1, to: &samples, at: column.start)
    // Moved by 0.1 s, so that it may come before the reference's start.
    let changed = alignment.weighted(samples)
    let lead = Int(0.1 * alignment.rate)
    let own = correlation(changed)
    let ownEnergy = Samples.energy(changed)
    var best: [Hypothesis] = []
    let low = alignment.delays.lowerBound
    let first = Int(low * alignment.rate)
    let last = Int(alignment.delays.upperBound * alignment.rate)
    let range = first..<last
    for shift in shifts {
      // The product of the others with the event at its place.
      let place = shift - lead
      let start = max(0, place)
      let both = Samples.dot(
        others, from: start, changed, from: start - place,
        count: min(others.count - start, changed.count - (start - place)))
      let whole = energy + ownEnergy + 2 * both
      guard whole > 0 else { continue }
      var greatest = (value: Float(0), delay: 0)
      unsafe products.withUnsafeBufferPointer { a in
        unsafe own.withUnsafeBufferPointer { b in
          for delay in range {
            let moved = delay &+ place
            let sum = unsafe abs(a[delay >= 0 ? delay : a.count &+ delay] + b[moved >= 0 ? moved : b.count &+ moved])
            if sum > greatest.value { greatest = (sum, delay) }
          }
        }
      }
      let isInverted = value(products, greatest.delay) + value(own, greatest.delay + place) < 0
      var moved = stem
      moved.time += Double(shift) / alignment.rate
      best.append(
        Hypothesis(
          index: index, stem: moved, ratio: ratio, delay: Double(greatest.delay) / alignment.rate,
          sign: isInverted ? -1 : 1, share: Double(greatest.value * greatest.value) / whole))
    }
    return Array(best.sorted { $0.share > $1.share }.prefix(2))
  }

  /// A product at a delay in frames; the transform's end holds delays before the start.
  private func value(_ products: [Float], _ delay: Int) -> Float {
    products[delay >= 0 ? delay : products.count + delay]
  }

  private mutating func correlation(_ samples: [Float]) -> [Float] {
    let own = transform.forward(samples)
    return transform.backward(own.indices.map { take[$0] * own[$0].conjugate })
  }
}
