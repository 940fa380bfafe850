import HapticFormats
import HapticModel
import HapticRender
import ShippedPatterns

/// What patterns sound like, from memory.
enum Render {
  /// A shipped pattern.
  static func shipped(_ name: String) throws -> (pattern: HapticPattern, samples: [Float]) {
    let document = try AHAPDocument(text: ShippedPatterns.text(named: name) ?? [], name: name)
    let pattern = try document.read().pattern
    return (pattern, try samples(of: pattern))
  }

  /// Any pattern.
  static func samples(of pattern: HapticPattern, rate: Double = 48_000) throws -> [Float] {
    let plan = try RenderPlan(compiling: pattern, profile: .phone, rate: rate)
    var rendering = OfflineRenderer(plan: plan)
    return rendering.samples()
  }
}
