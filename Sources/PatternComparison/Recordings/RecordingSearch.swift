internal import CMath
import SignalAnalysis

/// Finds where a reference lies in a recording, and what noise and hum there is.
struct RecordingSearch {
  let reference: RecordingReference
  /// The whole recording at the low rate, in its own polarity.
  let recording: [Float]

  /// Seconds of the recording before and behind the reference that are part of the fit.
  private static let margin = 0.7
  /// Candidates that have less than this share of the best sum in common with the recording are not fitted.
  private static let leastSum = 0.7
  private static let leastShortSum = 0.1
  /// The most places that are looked at closely.
  private static let greatestPlaceCount = 5
  /// A fit that leaves no more than this many times the noise is not bettered by another place.
  private static let noiseAlone = 1.15
  /// How much likelier, in twice the natural logarithm, a later candidate must be.
  private static let advantage = 30.0
  /// Where a fit leaves more than this share, another tempo may be why.
  private static let leastLeft = 0.02
  /// The model of an event is no better than this share of the peak.
  private static let modelError = 5e-4

  /// The reference in its place, with the noise known.
  struct Found {
    var fit: RecordingFit
    /// The first sample of the fitted segment in the recording.
    var first: Int
    /// 1 or −1.
    var sign: Double
    /// 50 or 60 where the fit's lines are multiples of it.
    var mains: Double?
    /// The share of the segment's whitened energy that the fit leaves.
    var left: Double
    /// What the fit leaves, in multiples of the noise.
    var excess = Double.infinity
    /// Whether the whole is another tempo with its pitch kept; the fit's reference is stretched by it.
    var stretch = 1.0
    /// Whether it is known by rises and falls alone.
    var isEdge = false

    /// Seconds of the recording at which the reference starts.
    var delay: Double { fit.place.delay + Double(first) / fit.reference.rate }
  }

  /// The likeliest places, the best first; none where nothing fits at all.
  ///
  /// A later candidate is better only where it is much likelier; others leave not much more than it.
  func places(in alignment: RecordingAlignment) -> [Found] {
    guard let greatest = alignment.candidates.map(\.sum).max() else { return [] }
    // Of one or two events, others may be like them and stronger.
    let isShort = reference.stems.count <= 3
    let least = isShort ? Self.leastShortSum : Self.leastSum
    let greatestLeft = isShort ? 30.0 : 3
    var found: [Found] = []
    var best: Int?
    var seen: Set<[Int]> = []
    func attempt(_ candidate: RecordingAlignment.Candidate) {
      let key = [Int((candidate.delay * 500).rounded()), Int((candidate.tempo * 1_000).rounded()), Int(candidate.sign)]
      guard seen.insert(key).inserted, let next = fitted(candidate) else { return }
      found.append(next)
      if let known = best {
        let count = Double(next.fit.take.count)
        if (found[known].left - next.left) * count > Self.advantage * next.left { best = found.count - 1 }
      } else {
        best = 0
      }
    }
    for candidate in alignment.candidates where candidate.sum >= least * greatest || candidate.isEdge {
      attempt(candidate)
      if let best, found[best].excess < Self.noiseAlone { break }
    }
    if best.map({ found[$0].left }) ?? 1 > Self.leastLeft {
      for candidate in alignment.tempoCandidates() { attempt(candidate) }
    }
    guard let best else { return [] }
    var places = [found[best]]
    for other in found.sorted(by: { $0.left < $1.left })
    where places.count < Self.greatestPlaceCount
      && other.left < (other.fit.isUsual ? 30 : greatestLeft) * found[best].left
      && places.allSatisfy({ Self.areApart($0, other) })
    { places.append(other) }
    let edges = found.filter { other in other.isEdge && places.allSatisfy { Self.areApart($0, other) } }
    return places + (edges.min { $0.left < $1.left }.map { [$0] } ?? [])
  }

  /// Whether two places are not a period or two of one sound apart.
  private static func areApart(_ one: Found, _ other: Found) -> Bool {
    let tempo = abs(one.fit.place.tempo - other.fit.place.tempo)
    return abs(one.delay - other.delay) > 0.015 || tempo * one.fit.reference.duration > 0.005
  }

  func fitted(_ candidate: RecordingAlignment.Candidate) -> Found? {
    let rate = reference.rate
    let first = max(0, Int((candidate.delay - Self.margin) * rate))
    let length = reference.duration * (1 + candidate.tempo)
    let last = min(recording.count, Int((candidate.delay + length + Self.margin) * rate))
    guard last - first >= Int(0.1 * rate) else { return nil }
    // What a recording ends before is missing from it.
    let end = max(last, Int((candidate.delay + length + 0.1) * rate))
    let take = recording[first..<last].map { $0 * Float(candidate.sign) } + [Float](repeating: 0, count: end - last)
    var fit = RecordingFit(
      reference, take: take, place: Placement(delay: candidate.delay - Double(first) / rate, tempo: candidate.tempo))
    var noise = quietNoise(from: candidate.delay, to: candidate.delay + length)
    let greatest = noise.powers.max() ?? 0
    for bin in noise.powers.indices { noise.powers[bin] += 1e-5 * greatest + 1e-16 }
    fit.whitener = noise.whitener()
    fit.refine(rounds: 2)
    let solution = fit.solve()
    let sigma = RecordingFit.sigma(solution.residual)
    guard RecordingFit.common(solution.gains, solution.errors, sigma: sigma) > 0 else { return nil }
    return Found(
      fit: fit, first: first, sign: candidate.sign,
      left: Samples.energy(solution.residual) / max(solution.energy, 1e-30),
      excess: Samples.energy(solution.residual) / (sigma * sigma * Double(max(1, solution.residual.count))),
      isEdge: candidate.isEdge)
  }

  /// The noise outside of a range of seconds, or what goes on all the time where that is too short.
  private func quietNoise(from start: Double, to end: Double) -> NoiseSpectrum {
    let rate = reference.rate
    let before = max(0, min(recording.count, Int((start - 0.05) * rate)))
    let behind = max(0, min(recording.count, Int((end + 0.05) * rate)))
    let quiet = Array(recording[..<before]) + Array(recording[max(before, behind)...])
    return quiet.count > Int(0.25 * rate) ? NoiseSpectrum(of: quiet) : NoiseSpectrum(of: recording, quantile: 0.1)
  }

  /// Learns noise and hum from what the fit leaves, and betters the fit by them.
  func settled(_ found: Found) -> Found {
    var found = found
    for turn in 0..<3 {
      if turn < 2 {
        found.fit.set(lines: [])
        let plain = found.fit.solve(isWhitened: false)
        let tones = SteadyTones.find(in: plain.residual, rate: reference.rate, allowsOthers: true)
        found.mains = tones.mains
        found.fit.set(lines: tones.lines.filter { isSteady($0, plain.residual, found) })
        if found.fit.lines.isEmpty { found.mains = nil }
      }
      let solution = found.fit.solve(isWhitened: false)
      let sigma = RecordingFit.sigma(solution.residual)
      let gain = RecordingFit.common(solution.gains, solution.errors, sigma: sigma)
      var noise = NoiseSpectrum(of: solution.residual)
      let error = Self.modelError * gain * reference.peak
      for bin in noise.powers.indices { noise.powers[bin] += error * error + 1e-16 }
      found.fit.whitener = noise.whitener()
      found.fit.refine()
    }
    let solution = found.fit.solve()
    found.left = Samples.energy(solution.residual) / max(solution.energy, 1e-30)
    return found
  }

  /// Whether a line is as strong where the reference is silent: what belongs to an event is not.
  private func isSteady(_ hertz: Double, _ residual: [Float], _ found: Found) -> Bool {
    let isQuiet = found.fit.quiet()
    let quiet = SteadyTones.power(at: hertz, in: residual, rate: reference.rate, where: { isQuiet[$0] })
    let loud = SteadyTones.power(at: hertz, in: residual, rate: reference.rate, where: { !isQuiet[$0] })
    guard quiet.count > Int(0.1 * reference.rate) else {
      // Nothing but the pattern was recorded: only the mains are known to hum under it.
      return found.mains != nil
    }
    return quiet.power > loud.power / 9
  }
}
