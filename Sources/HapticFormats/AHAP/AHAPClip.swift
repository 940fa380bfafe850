import Diagnostics
import HapticModel

/// A clip on the way to AHAP as the converters of the haptics SDKs write it.
///
/// Both map points and leave straight lines between them, lower points with an emphasis by a fifth,
/// write a continuous event for each 30 s, and count control points from the start of the clip. Meta's
/// writes one curve; Lofelt's writes curves of 16 points and loses an emphasis on the first point.
///
/// Source: facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`; Lofelt/NiceVibrations, 5e58663,
/// `ios/v1.rs`.
struct AHAPClip {
  /// What both converters multiply the intensity of a point with an emphasis by.
  private static let ducking = 0.8
  /// The longest continuous event of both converters, in seconds.
  private static let longestEvent = 30.0

  private let clip: HapticClip
  private let isLofelt: Bool
  private let composition: HapticComposition
  private let options: WritingOptions
  private var losses = LossLog()

  init(_ composition: HapticComposition, isLofelt: Bool, options: WritingOptions) {
    self.isLofelt = isLofelt
    self.composition = composition
    self.options = options
    clip =
      HapticClip(exactly: composition, options.amplitude)
      ?? HapticClip(approximating: composition, options: options, losses: &losses)
    noteLosses()
  }

  /// One file, or one for what is continuous and one for transients.
  func write() throws(InputError) -> Writing {
    let continuous = curves + continuousEvents
    let transients = transients
    guard options.split == .always, !transients.isEmpty else {
      return Writing([try file(continuous + transients)], losses: losses.finish())
    }
    return Writing(
      [try file(continuous, suffix: "_continuous"), try file(transients, suffix: "_transients")],
      losses: losses.finish())
  }

  private func file(_ entries: [AHAPEntry], suffix: String = "") throws(InputError) -> Writing.File {
    var metadata = AHAPMetadata()
    if isLofelt {
      metadata = [
        "Project": composition.title ?? "", "Created": composition.author ?? "", "Description": composition.notes ?? "",
      ]
    }
    return Writing.File(suffix: suffix, try AHAPDocument(entries: entries, metadata: metadata).formatted())
  }

  private var curves: [AHAPEntry] {
    let levels = clip.amplitude.map { point in
      let root = Double(point.amplitude).squareRoot()
      return ParameterCurve.ControlPoint(
        time: point.time, value: Float(point.emphasis == nil ? root : root * Self.ducking))
    }
    let tones = clip.frequency.map { points in
      points.map {
        ParameterCurve.ControlPoint(
          time: $0.time, value: Float(FrequencyLaw.sharpness(ofFrequency: Double($0.frequency))))
      }
    }
    let sharpness = tones.map { curves(of: .hapticSharpnessControl, $0) } ?? []
    return (curves(of: .hapticIntensityControl, levels) + sharpness).map(AHAPEntry.curve)
  }

  private func curves(of id: DynamicParameterID, _ points: [ParameterCurve.ControlPoint]) -> [ParameterCurve] {
    let whole = ParameterCurve(id: id, time: points.first?.time ?? 0, controlPoints: points)
    guard isLofelt else { return [whole] }
    guard points.count > 1 else { return [] }
    return stride(from: 0, to: points.count - 1, by: AHAPComposition.pointLimit - 1).map { start in
      let end = min(start + AHAPComposition.pointLimit - 1, points.count - 1)
      return ParameterCurve(id: id, time: points[start].time, controlPoints: Array(points[start...end]))
    }
  }

  private var continuousEvents: [AHAPEntry] {
    let length = clip.amplitude.last?.time ?? 0
    return (0..<Int(min((length / Self.longestEvent).rounded(.up), 1e6))).map { index in
      let start = Double(index) * Self.longestEvent
      return .event(
        HapticEvent(
          kind: .hapticContinuous, time: start, duration: min(Self.longestEvent, length - start),
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0]))
    }
  }

  private var transients: [AHAPEntry] {
    clip.amplitude.dropFirst(isLofelt ? 1 : 0).compactMap { point in
      guard let emphasis = point.emphasis else { return nil }
      return .event(
        HapticEvent(
          kind: .hapticTransient, time: point.time,
          parameters: [
            .hapticIntensity: Float(Double(emphasis.amplitude).squareRoot()), .hapticSharpness: emphasis.frequency,
          ]))
    }
  }

  private mutating func noteLosses() {
    let level = CompositionElement.curve(layer: 0, index: 0)
    let roots = clip.amplitude.map { Double($0.amplitude).squareRoot() }
    let bend = zip(roots, roots.dropFirst()).reduce(0) { max($0, ($1.0 - $1.1) * ($1.0 - $1.1) / 4) }
    if bend > 0 {
      losses.add(
        .approximated, level, "lines of amplitude become lines of intensity; amplitudes between points are lower",
        size: bend)
    }
    if clip.frequency == nil {
      losses.add(.approximated, .layer(0), "without a frequency envelope, sharpness is 0", size: 0.5)
    }
    if let first = clip.amplitude.first, first.time > 0 {
      losses.add(.approximated, .layer(0), "control points count from the start of the clip, and the event starts at 0")
    } else if isLofelt, clip.amplitude.count > AHAPComposition.pointLimit {
      losses.add(.approximated, .layer(0), "control points count from the start of the clip")
    }
    var number = 0
    for (index, point) in clip.amplitude.enumerated() where point.emphasis != nil {
      let tap = CompositionElement.event(EventReference(layer: 1, event: number))
      number += 1
      losses.add(
        .approximated, level, "the intensity of points with an emphasis is lowered to 0.8 of itself",
        size: roots[index] * (1 - Self.ducking))
      if isLofelt, index == 0 {
        losses.add(.dropped, tap, "an emphasis on the first point cannot be written")
      } else if options.split != .always {
        losses.add(
          .approximated, tap, "the curves of the envelope act on transients; intensity is lowered by a share",
          size: 1 - roots[index] * Self.ducking)
      }
    }
  }
}
