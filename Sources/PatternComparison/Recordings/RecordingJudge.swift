internal import CMath
import SignalAnalysis

/// Holds a recording that was made through something against a pattern: where it is, what it went through and what
/// changed are the likeliest together, by the evidence of `RecordingResponse`.
struct RecordingJudge {
  struct Change {
    var kind: Difference.Kind
    /// The event; nil for an added transient.
    var stem: Int?
    /// Decibels, seconds, the logarithm of a ratio of frequencies, or the gain of an added transient.
    var amount = 0.0
    /// Of an added transient: seconds of the reference, and its number in the bank.
    var time = 0.0
    var shape = 0
    var improvement = 0.0
  }

  /// A place with one kind of response, and what changed if both are right.
  struct Branch {
    /// Samples of the take at which the reference begins.
    var delay: Int
    var tempo = 0.0
    var response: RecordingResponse
    var fit = RecordingResponse.Fit(evidence: -.infinity, coefficients: [], left: .infinity)
    /// The energy of the segment through its whitener.
    var energy = 0.0
    var whitener: [Double] = [1]
    var changes: [Change] = []
    var total = -Double.infinity
    var gain: AutomaticGain?

    var price: Double { total - Self.leastGain * Double(changes.count) }
    /// Decibels of what is left, relative to the recording.
    var left: Double { 10 * log10(max(1e-9, fit.left / max(energy, 1e-30))) }
    static let leastGain = 25.0
  }

  let reference: RecordingReference
  private var take: [Double]
  private let noise: NoiseSpectrum
  private let bank: [Stem]
  private let rate: Double
  /// Samples of a segment, and of it before the reference begins.
  private let (count, lead): (Int, Int)

  /// Frames per second; patterns end far below half of it.
  static let rate = 2_000.0
  /// Seconds of a segment around the reference.
  static let margin = (before: 0.08, behind: 0.5)
  /// What a model leaves of an event at best, as a share of its power.
  private static let modelError = 1e-3
  private static let order = 24
  /// Places that explain this share of what the best one does are tried, so many, so many seconds apart.
  private static let places = (share: 0.6, count: 3, seconds: 0.07)
  /// Decibels of what a branch leaves from which another is not looked for, and a room not.
  private static let enough = (other: -24.0, room: -19.0, place: -15.0, gain: -20.0)
  /// The most changes that are looked for, and the share of what is left that one explains at least.
  private static let greatestCount = 4
  private static let leastShare = 0.2
  /// Decibels, seconds and the logarithm of a ratio that a change has at least.
  static let least = (decibels: 2.5, seconds: 0.006, ratio: 0.1)
  private static let amounts: [Difference.Kind: ClosedRange<Double>] = [
    .level: least.decibels...40, .time: least.seconds...RecordingExplanation.reach, .frequency: least.ratio...1,
  ]
  /// Decibels below which nothing is left to explain.
  private static let nothing = -27.0

  init?(_ sides: RecordingSides, search: Double) {
    let low = LowRateSignal(of: sides.recording.signal.mono, rate: sides.recording.signal.rate, target: Self.rate)
    guard let built = RecordingReference(sides.pattern, target: Self.rate), !built.stems.isEmpty,
      let renderer = built.renderer, abs(built.rate - low.rate) < 1e-6 * low.rate,
      low.samples.count > Int(0.2 * low.rate)
    else { return nil }
    (reference, rate) = (built, low.rate)
    let middle = Samples.median(low.samples.map(Double.init))
    take = low.samples.map { Double($0) - middle }
    noise = NoiseSpectrum(of: low.samples, quantile: 0.1)
    bank = renderer.bank()
    lead = Int(Self.margin.before * rate)
    count = lead + Int((built.duration + Self.margin.behind) * rate)
    judge(search: search)
  }

  private(set) var best: Branch?

  private mutating func judge(search: Double) {
    let found = places(search: search)
    var branches: [Branch] = []
    func look(_ branch: Branch) {
      branches.append(branch)
      if best.map({ branch.price > $0.price }) ?? true { best = branch }
    }
    for (number, place) in found.enumerated() {
      let isEnough = best.map { $0.changes.count < 2 } ?? false
      if number > 0, isEnough, best?.left ?? 0 < Self.enough.place { break }
      for kind in [RecordingResponse.Kind.anyResonance, .filter, .anyRoom] {
        let limit = kind == .anyRoom ? Self.enough.room : Self.enough.other
        if let best, best.left < limit, best.changes.count < 2 { continue }
        look(explained(kind, at: place))
      }
    }
    guard let best, best.left > Self.enough.gain || !best.changes.isEmpty else { return }
    let plain = take
    for branch in branches where abs(branch.delay - best.delay) < lead && branch.response.kind.any != .anyRoom {
      var start = branch
      // What a gain did looks like changes of levels; what is left of them behind it changes what it is taken for.
      for _ in 0..<2 {
        let events = start.changes.filter { $0.kind != .level }
        let gains = (events.isEmpty ? [[]] : [[], events]).compactMap { likeliestGain(start, supposing: $0) }
        guard let gain = gains.max(by: { $0.evidence < $1.evidence })?.gain, gain != start.gain else { break }
        let undone = gain.undone(in: plain, rate: rate)
        take = undone.samples
        let cost = logarithm(of: undone.gains, at: branch.delay) + 2 * log(Double(count))
        start = explained(branch.response.kind.any, at: branch.delay)
        start.total -= cost
        start.gain = gain
        take = plain
        look(start)
      }
    }
  }

  private func segment(of samples: [Double], at delay: Int) -> [Double] {
    let first = delay - lead
    let known = max(0, first)..<max(0, first, min(samples.count, first + count))
    var segment = [Double](repeating: 0, count: count)
    segment.replaceSubrange(known.lowerBound - first..<known.upperBound - first, with: samples[known])
    return segment
  }

  private func part(of stem: Stem, tempo: Double) -> RecordingResponse.Part {
    let column = stem.column(onset: Double(lead) / rate + stem.time * (1 + tempo), speed: 1 + tempo, count: count)
    return RecordingResponse.Part(start: column.start, samples: column.samples.map(Double.init))
  }

  /// What an event or an added transient sounds like; nil where a change cannot be.
  private func part(of change: Change, tempo: Double) -> RecordingResponse.Part? {
    guard let index = change.stem else {
      var stem = bank[change.shape].scaled(by: change.amount)
      stem.time = change.time
      return part(of: stem, tempo: tempo)
    }
    let variants = EventVariants(reference: reference)
    let stem: Stem? =
      switch change.kind {
      case .missing: reference.stems[index].scaled(by: 0)
      case .level: reference.stems[index].scaled(by: pow(10, change.amount / 20))
      case .time: variants.time(of: index, later: (change.amount * 1_000).rounded() / 1_000)
      default: variants.frequency(of: index, times: exp(change.amount))?.stem
      }
    return stem.map { part(of: $0, tempo: tempo) }
  }

  private func sound(_ changes: [Change], tempo: Double) -> [Double] {
    var sum = [Double](repeating: 0, count: count)
    for (index, stem) in reference.stems.enumerated() where !changes.contains(where: { $0.stem == index }) {
      part(of: stem, tempo: tempo).add(to: &sum)
    }
    for change in changes { part(of: change, tempo: tempo)?.add(to: &sum) }
    return sum
  }

  private func whitened(_ x: [Double], by taps: [Double]) -> [Double] {
    Array(RecordingResponse.Part(samples: x).filtered(by: taps).samples.prefix(x.count))
  }

  /// A filter that makes noise white, and so what a model leaves of the events.
  private func whitener(at delay: Int) -> [Double] {
    var spectrum = noise
    let own = NoiseSpectrum(of: segment(of: take, at: delay).map(Float.init), quantile: nil)
    let least = 1e-4 * (own.powers.max() ?? 0) * Self.modelError + 1e-20
    for bin in spectrum.powers.indices { spectrum.powers[bin] += Self.modelError * own.powers[bin] + least }
    return spectrum.whitener(order: Self.order).map(Double.init)
  }

  /// Delays at which some response of 44 ms explains most of the recording.
  private func places(search: Double) -> [Int] {
    let x = Array(sound([], tempo: 0)[lead...])
    let energy = Samples.dot(x, x)
    let anything = RecordingResponse(kind: .anything, scale: 1_000 / max(energy, 1e-30))
    let regression = RecordingResponse.Regression(anything, of: x, rate: rate)
    let first = -Int(0.5 * rate)
    let last = max(first + 1, min(Int(search * rate), take.count - Int(0.05 * rate)))
    let reach = regression.lags
    let length = FourierTransform.fastLength(atLeast: x.count + take.count + reach.count)
    var transform = FourierTransform(length: length)
    let bins = transform.forward(take.map(Float.init))
    let products = transform.correlation(bins, x.map(Float.init)).map(Double.init)
    let powers = (first..<last).map { delay in
      regression.explained(reach.map { products[(delay + $0 + length) % length] })
    }
    var found: [Int] = []
    let apart = Int(Self.places.seconds * rate)
    for index in powers.indices.sorted(by: { powers[$0] > powers[$1] }) {
      guard powers[index] > Self.places.share * (powers.max() ?? 0), found.count < Self.places.count else { break }
      if found.allSatisfy({ abs($0 - first - index) >= apart }) { found.append(first + index) }
    }
    return found
  }

  /// The delay within 30 ms, and the tempo of usual clocks, at which a response that begins at once explains most.
  private func placed(_ kind: RecordingResponse.Kind, at place: Int) -> Branch {
    let taps = whitener(at: place)
    var branch = Branch(delay: place, response: RecordingResponse(kind: kind, scale: 0), whitener: taps)
    let x = whitened(sound([], tempo: 0), by: taps)
    choose(&branch, x)
    let isRoom = kind == .anyRoom
    for (reach, step) in [(60, isRoom ? 12 : 6), (5, isRoom ? 5 : 2)] {
      let regression = RecordingResponse.Regression(branch.response, of: x, rate: rate)
      let center = branch.delay
      var best = -Double.infinity
      for step in stride(from: -reach, through: reach, by: step) {
        let fit = regression.fit(whitened(segment(of: take, at: center + step), by: taps))
        if fit.evidence > best { (best, branch.delay) = (fit.evidence, center + step) }
      }
      branch.response = RecordingResponse(kind: kind, scale: 0)
      choose(&branch, x)
    }
    return withTempo(branch)
  }

  private func withTempo(_ branch: Branch) -> Branch {
    guard reference.duration > 1.5 else { return branch }
    var best = branch
    let y = whitened(segment(of: take, at: branch.delay), by: branch.whitener)
    for step in [1e-4, 5e-5, 2.5e-5] {
      let center = best.tempo
      for tempo in [-2 * step, -step, step, 2 * step].map({ center + $0 }) where abs(tempo) <= 3e-4 {
        let fit = branch.response.fit(whitened(sound([], tempo: tempo), by: branch.whitener), to: y, rate: rate)
        if fit.evidence > best.fit.evidence { (best.tempo, best.fit) = (tempo, fit) }
      }
    }
    return best
  }

  private func choose(_ branch: inout Branch, _ x: [Double]) {
    let y = whitened(segment(of: take, at: branch.delay), by: branch.whitener)
    branch.energy = Samples.dot(y, y)
    (branch.response, branch.fit) = branch.response.likeliest(x, to: y, rate: rate)
  }

  /// The evidence of a branch with some changes and the response's own values free where it is a resonance.
  private func evidence(_ branch: Branch, _ changes: [Change], y: [Double], isFree: Bool = false) -> Double {
    let x = whitened(sound(changes, tempo: branch.tempo), by: branch.whitener)
    let chooses = isFree && branch.response.kind.any == .anyResonance
    let fit = chooses ? branch.response.likeliest(x, to: y, rate: rate).fit : branch.response.fit(x, to: y, rate: rate)
    return fit.evidence
  }

  /// The evidence with the noise's colour as what is left has it.
  private func settled(_ branch: Branch, _ changes: [Change], y: [Double]) -> Double {
    let sound = sound(changes, tempo: branch.tempo)
    let x = whitened(sound, by: branch.whitener)
    var (response, fit) = (branch.response, branch.response.fit(x, to: y, rate: rate))
    if response.kind.any == .anyResonance { (response, fit) = response.likeliest(x, to: y, rate: rate) }
    let plain = segment(of: take, at: branch.delay)
    var evidence = -Double.infinity
    for _ in 0..<2 {
      let heard = response.sound(
        of: RecordingResponse.Part(samples: sound), coefficients: fit.coefficients, rate: rate, count: count)
      var left = plain
      heard.add(to: &left, times: -1)
      var spectrum = NoiseSpectrum(of: left.map(Float.init), quantile: nil)
      let floor = 1e-7 * Samples.dot(plain, plain) / Double(count) + 1e-4 * spectrum.power
      for bin in spectrum.powers.indices { spectrum.powers[bin] += floor }
      let taps = spectrum.whitener(order: Self.order).map(Double.init)
      let (x, y) = (whitened(sound, by: taps), whitened(plain, by: taps))
      for _ in 0..<2 {
        fit = response.fit(x, to: y, rate: rate)
        evidence = max(evidence, fit.evidence)
        let strongest = fit.coefficients.map { $0 * $0 }.max() ?? 0
        response.scale = max(strongest, 1e-12) / (fit.left / Double(count))
      }
    }
    return evidence
  }

  private static let prices: [Difference.Kind: Double] = [.level: 0.5, .time: 0.5, .frequency: 0.5, .added: 1.5]

  /// The place and the changes behind a kind of response; what most events have in common is the place.
  private func explained(_ kind: RecordingResponse.Kind, at place: Int) -> Branch {
    let start = placed(kind, at: place)
    let branch = searched(start)
    let shifts = branch.changes.filter { $0.kind == .time }.map(\.amount)
    let shift = Samples.median(shifts)
    guard 2 * shifts.count > reference.stems.count, shifts.allSatisfy({ abs($0 - shift) < 0.002 }) else {
      return branch
    }
    var moved = start
    moved.delay += Int((shift * rate).rounded())
    choose(&moved, whitened(sound([], tempo: moved.tempo), by: moved.whitener))
    let other = searched(moved)
    return other.price > branch.price ? other : branch
  }

  private func searched(_ start: Branch) -> Branch {
    var branch = start
    let y = whitened(segment(of: take, at: branch.delay), by: branch.whitener)
    let eventCost = log(Double(max(2, reference.stems.count)))
    func price(_ change: Change) -> Double { eventCost + Self.prices[change.kind, default: 0] * log(Double(count)) }
    var now = evidence(branch, [], y: y, isFree: true)
    branch.total = settled(branch, [], y: y)
    while branch.changes.count < Self.greatestCount, branch.left > Self.nothing {
      let known = branch.changes
      var tried = proposals(branch, y: y).map { ($0, evidence(branch, known + [$0], y: y)) }
      tried.sort { $0.1 > $1.1 }
      var rated: [(change: Change, plain: Double, rated: Double)] = []
      for (change, _) in tried.prefix(8) {
        let change = refined(change, in: branch, y: y)
        guard Self.amounts[change.kind]?.contains(abs(change.amount)) ?? true else { continue }
        var plain = evidence(branch, known + [change], y: y, isFree: true)
        if change.stem == nil, reference.stems.contains(where: { abs($0.time - change.time) < 0.03 }) {
          plain -= 0.3 * (plain - now)
        }
        rated.append((change, plain, plain - price(change)))
      }
      guard let first = rated.max(by: { $0.rated < $1.rated }) else { break }
      let near = rated.sorted { $0.rated > $1.rated }.prefix(4).filter {
        $0.rated > first.rated - 0.3 * abs(first.rated - now)
      }
      let all = near.map { ($0, settled(branch, known + [$0.change], y: y) - price($0.change)) }
      guard let (clearest, total) = all.max(by: { $0.1 < $1.1 }), total - branch.total >= Branch.leastGain,
        1 - exp(-2 * (clearest.plain - now) / Double(count)) >= Self.leastShare
      else { break }
      var next = clearest.change
      next.improvement = total - branch.total
      branch.changes.append(next)
      branch.total = total
      choose(&branch, whitened(sound(branch.changes, tempo: branch.tempo), by: branch.whitener))
      now = evidence(branch, branch.changes, y: y, isFree: true)
    }
    return branch
  }

  private func refined(_ change: Change, in branch: Branch, y: [Double]) -> Change {
    var best = (change, evidence(branch, branch.changes + [change], y: y))
    func refine(_ path: WritableKeyPath<Change, Double>, by first: Double) {
      var step = first
      for _ in 0..<5 {
        let better = [step, -step].lazy.map { step -> (Change, Double) in
          var other = best.0
          other[keyPath: path] += step
          return (other, evidence(branch, branch.changes + [other], y: y))
        }.first { $0.1 > best.1 && ($0.0.kind != .added || $0.0.amount > 0) }
        if let better { best = better } else { step /= 2 }
      }
    }
    switch change.kind {
    case .level: refine(\.amount, by: 1)
    case .time: refine(\.amount, by: 0.002)
    case .frequency: refine(\.amount, by: 0.06)
    case .added:
      refine(\.time, by: 0.002)
      refine(\.amount, by: 0.3 * best.0.amount)
      for shape in [change.shape - 1, change.shape + 1] where bank.indices.contains(shape) {
        var other = best.0
        other.shape = shape
        let evidence = evidence(branch, branch.changes + [other], y: y)
        if evidence > best.1 { best = (other, evidence) }
      }
    default: break
    }
    return best.0
  }

  /// Of each event and kind the best behind the response as it is.
  private func proposals(_ branch: Branch, y: [Double]) -> [Change] {
    typealias Part = RecordingResponse.Part
    func heard(_ part: Part) -> Part {
      branch.response.sound(
        of: part.filtered(by: branch.whitener), coefficients: branch.fit.coefficients, rate: rate, count: count)
    }
    let x = whitened(sound(branch.changes, tempo: branch.tempo), by: branch.whitener)
    let fit = branch.response.fit(x, to: y, rate: rate)
    var rest = y
    branch.response.sound(of: Part(samples: x), coefficients: fit.coefficients, rate: rate, count: count).add(
      to: &rest, times: -1)
    var found: [Change] = []
    let isRoom = branch.response.kind.any == .anyRoom
    for (index, stem) in reference.stems.enumerated() where !branch.changes.contains(where: { $0.stem == index }) {
      let now = part(of: stem, tempo: branch.tempo)
      func gain(_ change: Change) -> Double? {
        guard let other = part(of: change, tempo: branch.tempo) else { return nil }
        var difference = Part(start: min(now.start, other.start))
        let end = max(now.start + now.samples.count, other.start + other.samples.count)
        difference.samples = [Double](repeating: 0, count: max(0, end - difference.start))
        Samples.add(other.samples, times: 1, to: &difference.samples, at: other.start - difference.start)
        Samples.add(now.samples, times: -1, to: &difference.samples, at: now.start - difference.start)
        let sound = heard(difference)
        let first = max(0, -sound.start)
        let length = min(sound.samples.count - first, rest.count - sound.start - first)
        return 2 * Samples.dot(sound.samples, from: first, rest, from: sound.start + first, count: length)
          - Samples.dot(sound.samples, sound.samples)
      }
      func propose(_ kind: Difference.Kind, _ amounts: [Double], most: Int) {
        let all = amounts.compactMap { amount -> (Change, Double)? in
          let change = Change(kind: kind, stem: index, amount: amount)
          return gain(change).map { (change, $0) }
        }
        found += all.sorted { $0.1 > $1.1 }.prefix(isRoom ? min(2, most) : most).map(\.0)
      }
      if reference.stems.count > 1 {
        found.append(Change(kind: .missing, stem: index))
        propose(.level, [-9, -6, -4, -2.5, 2.5, 4, 6], most: 3)
        propose(.time, (-15...15).filter { $0 != 0 }.map { 0.004 * Double($0) }, most: 4)
      }
      propose(.frequency, [-0.48, -0.32, -0.16, 0.16, 0.32, 0.48], most: 3)
    }
    for shape in stride(from: 0, to: bank.count, by: 2) {
      let sound = heard(part(of: Change(kind: .added, amount: 1, shape: shape), tempo: 0) ?? Part())
      let burst = Array(sound.samples.prefix(Int(0.2 * rate)))
      let energy = max(1e-30, Samples.dot(burst, burst))
      var scores = Samples.products(burst, rest, lags: 0..<max(1, rest.count - burst.count / 2)).map { product in
        // As inverted as the events are, and no weaker than a sixteenth of full intensity.
        product > 0.06 * energy ? product * product : 0
      }
      for _ in 0..<2 {
        guard let place = scores.indices.max(by: { scores[$0] < scores[$1] }), scores[place] > 0 else { break }
        found.append(
          Change(
            kind: .added, amount: scores[place].squareRoot() / energy,
            time: Double(place - sound.start) / rate / (1 + branch.tempo), shape: shape))
        for near in max(0, place - 80)..<min(scores.count, place + 80) { scores[near] = 0 }
      }
    }
    return found
  }

  /// The level of the recording at a branch, in decibels relative to the reference.
  func level(of branch: Branch) -> Double {
    let (heard, own) = (segment(of: take, at: branch.delay), sound([], tempo: 0))
    return 10 * log10(max(1e-30, Samples.dot(heard, heard)) / max(1e-30, Samples.dot(own, own)))
  }

  /// The changes of a branch as those of a recording.
  ///
  /// Of two events, a missing one leaves one whose place and sound are not known: nothing else is then.
  func changes(of branch: Branch) -> [RecordingChange] {
    let isPair = reference.stems.count == 2
    let lost = isPair ? branch.changes.first { $0.kind == .missing } : nil
    // What seems added close to another change is what that leaves.
    let distinct = branch.changes.indices.filter { index in
      let change = branch.changes[index]
      return change.kind != .added
        || !branch.changes[..<index].contains {
          abs(($0.stem.map { reference.stems[$0].time } ?? $0.time) - change.time) < 0.06
        }
    }
    return (lost.map { [$0] } ?? distinct.map { branch.changes[$0] }).map { change in
      var change = self.change(change)
      change.isOfEither = isPair && [.missing, .level, .time].contains(change.kind)
      return change
    }
  }

  private func change(_ change: Change) -> RecordingChange {
    guard let index = change.stem else {
      let duration = bank[change.shape].end - bank[change.shape].time
      return RecordingChange(
        kind: .added, event: ActiveRegion.event(start: change.time, duration: duration),
        range: change.time...change.time + duration, amount: 20 * log10(max(1e-6, change.amount)), explained: 0..<0,
        improvement: 2 * change.improvement)
    }
    let stem = reference.stems[index]
    var changed = RecordingChange(
      kind: change.kind, event: stem.event, range: stem.time...max(stem.time, stem.end), amount: change.amount,
      stem: index, explained: 0..<0, improvement: 2 * change.improvement)
    switch change.kind {
    case .missing: changed.amount = 20 * log10(max(Double(SignalPair.peak(stem.samples)), 1e-6))
    case .time: (changed.before, changed.after) = (stem.time, stem.time + change.amount)
    case .frequency:
      changed.amount = 100 * (exp(change.amount) - 1)
      let hertz = EventVariants(reference: reference).frequency(of: index, times: exp(change.amount))
      (changed.before, changed.after) = (hertz?.before, hertz?.after)
    default: break
    }
    return changed
  }

  private func logarithm(of gains: [Double], at delay: Int) -> Double {
    segment(of: gains, at: delay).reduce(0) { $0 + ($1 > 0 ? log($1) : 0) }
  }

  /// The gain that, undone, makes a recording likelier by far, and its evidence; nil where none does.
  private func likeliestGain(_ branch: Branch, supposing changes: [Change]) -> (gain: AutomaticGain, evidence: Double)?
  {
    let x = whitened(sound(changes, tempo: branch.tempo), by: branch.whitener)
    let regression = RecordingResponse.Regression(branch.response, of: x, rate: rate)
    let peak = segment(of: take, at: branch.delay).reduce(0) { max($0, abs($1)) }
    let plain = regression.fit(whitened(segment(of: take, at: branch.delay), by: branch.whitener)).evidence
    var best: (gain: AutomaticGain?, evidence: Double) = (nil, plain + Branch.leastGain + 2 * log(Double(count)))
    func look(_ gain: AutomaticGain) {
      let undone = gain.undone(in: take, rate: rate)
      let fit = regression.fit(whitened(segment(of: undone.samples, at: branch.delay), by: branch.whitener))
      let evidence = fit.evidence - logarithm(of: undone.gains, at: branch.delay)
      if evidence > best.evidence { best = (gain, evidence) }
    }
    for number in 0..<108 {
      look(
        AutomaticGain(
          threshold: peak * [0.05, 0.12, 0.3, 0.6][number % 4], power: [0.4, 0.7, 1][number / 4 % 3],
          attack: [0.01, 0.03, 0.1][number / 12 % 3], release: [0.15, 0.4, 1][number / 36]))
    }
    let paths = [\AutomaticGain.threshold, \.power, \.attack, \.release]
    for number in 0..<24 {
      guard var gain = best.gain else { return nil }
      gain[keyPath: paths[number / 2 % 4]] *= pow([1.4, 1.18, 1.09][number / 8], number % 2 == 0 ? 1 : -1)
      look(gain)
    }
    return best.gain.map { ($0, best.evidence) }
  }
}

/// A gain that falls as a sound grows and comes back behind it, as that of a phone's microphone.
struct AutomaticGain: Equatable, Sendable {
  /// The level from which it acts, and the power of the level by which it falls from there.
  var threshold: Double
  var power: Double
  /// Seconds in which it follows a level that rises, and one that falls.
  var attack: Double
  var release: Double

  private static let least = 0.05

  /// What a recording was before it, and the gain at each sample: the level that sets it is that of what was before.
  func undone(in recording: [Double], rate: Double) -> (samples: [Double], gains: [Double]) {
    let (rise, fall) = (1 - exp(-1 / (attack * rate)), 1 - exp(-1 / (release * rate)))
    var (samples, gains) = (recording, recording)
    var (level, gain) = (0.0, 1.0)
    for index in recording.indices {
      samples[index] /= gain
      gains[index] = gain
      let size = abs(samples[index])
      level += (size > level ? rise : fall) * (size - level)
      gain = level > threshold ? max(Self.least, pow(threshold / level, power)) : 1
    }
    return (samples, gains)
  }
}

extension RecordingResponse.Kind {
  static let anyResonance = Self.resonance([])
  static let anyRoom = Self.room(seconds: 0, share: 0)

  var any: Self {
    switch self {
    case .resonance: .anyResonance
    case .room: .anyRoom
    default: self
    }
  }
}
