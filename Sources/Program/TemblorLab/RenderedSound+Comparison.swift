public import HapticModel
public import HapticRender
public import PatternComparison
public import Temblor

extension HapticComposition {
  /// Renders this composition and another composition, and lists the differences of the other
  /// composition from this one.
  ///
  /// - Parameters:
  ///   - candidate: The composition that is compared with this one, the reference.
  ///   - profile: The profile that renders both.
  /// - Throws: The errors of `render(profile:rate:channelCount:sounds:)`.
  public func compare(
    with candidate: HapticComposition, profile: TransducerProfile = .phone
  ) throws -> Comparison {
    let reference = try render(profile: profile)
    let rendered = try candidate.render(profile: profile)
    return Comparison(
      reference.take(named: title ?? "A"), rendered.take(named: candidate.title ?? "B"))
  }
}

extension RenderedSound {
  /// Returns a take for comparisons, which contains the rendered sound and its composition.
  ///
  /// - Parameter name: The name of the take in reports.
  public func take(named name: String) -> Take {
    Take(
      name: name, source: .pattern(composition), signal: signal, profile: profile,
      feeling: composition.notes)
  }
}
