internal import HapticModel
internal import HapticRender
internal import SignalPlots
internal import SystemSupport

/// Two takes on one another, for readers without script: what both have is grey, what only one has
/// is in its colour. The page's style colours it; its script draws the same with more detail.
struct OverlayPicture {
  private let one: PageTake
  private let other: PageTake
  /// By how many seconds the other take is later.
  private let shift: Double
  private let profile: TransducerProfile
  private let duration: Double

  private static let size = (width: 1_140.0, height: 348.0)
  private static let margin = (left: 58.0, right: 58.0)
  private static let strengthLane = (top: 22.0, bottom: 210.0)
  private static let toneLane = (top: 250.0, bottom: 320.0)
  /// CSS pixels between two places of a curve.
  private static let step = 4.0

  init(_ one: PageTake, _ other: PageTake, shift: Double, profile: TransducerProfile) {
    self.one = one
    self.other = other
    self.shift = shift
    self.profile = profile
    duration = max(one.duration, other.duration - shift, 0.02)
  }

  var markup: String {
    let (width, height) = Self.size
    let name = "\(one.name) and \(other.name) on one time axis."
    return
      "<svg class=\"plot\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\""
      + "\(name.escapedForMarkup) Every difference is in the list below.\">" + axes + areas
      + transients(one, class: "a", delay: 0) + transients(other, class: "b", delay: shift)
      + "</svg>"
  }

  private func x(_ seconds: Double) -> Double {
    Self.margin.left + (Self.size.width - Self.margin.left - Self.margin.right) * seconds / duration
  }

  private static func y(_ value: Double) -> Double {
    strengthLane.bottom - value * (strengthLane.bottom - strengthLane.top - 6)
  }

  private static func toneY(_ value: Double) -> Double {
    toneLane.bottom - 3 - value * (toneLane.bottom - toneLane.top - 8)
  }

  private static func text(_ value: Double) -> String { NumberFormatting.rounded(value, places: 1) }

  private func place(_ seconds: Double, _ y: Double) -> String {
    "\(Self.text(x(seconds))) \(Self.text(y))"
  }

  private var axes: String {
    let left = Self.margin.left
    let right = Self.size.width - Self.margin.right
    let isOfPatterns = one.events != nil && other.events != nil
    var markup = ""
    let titles = isOfPatterns ? ["Intensity", "Sharpness"] : ["Level", "Frequency"]
    for (lane, title) in zip([Self.strengthLane, Self.toneLane], titles) {
      markup += "<text class=\"lane\" x=\"\(Int(left))\" y=\"\(Int(lane.top - 7))\">\(title)</text>"
      markup += line("axis", left, lane.bottom, right, lane.bottom)
    }
    let hertz = [profile.frequency.low, profile.frequency.high].map {
      NumberFormatting.rounded($0, places: 0) + " Hz"
    }
    let ends =
      isOfPatterns
      ? [("0", "1", "", ""), ("0", "1", hertz[0], hertz[1])]
      : [("−60", "0 dBFS", "", ""), ("", "", "30 Hz", "600 Hz")]
    for (place, texts) in zip([Self.y, Self.toneY], ends) {
      for (value, low, high) in [(0.0, texts.0, texts.2), (1.0, texts.1, texts.3)] {
        let y = Self.text(place(value) + 4)
        markup += "<text x=\"\(Int(left - 8))\" y=\"\(y)\" text-anchor=\"end\">\(low)</text>"
        markup += "<text x=\"\(Int(right + 8))\" y=\"\(y)\">\(high)</text>"
      }
    }
    let ticks = AxisTick.round(in: 0...duration, atMost: 12)
    for (index, tick) in ticks.enumerated() {
      markup +=
        "<text x=\"\(Self.text(x(tick.value)))\" y=\"\(Int(Self.toneLane.bottom + 18))\" "
        + "text-anchor=\"middle\">\(tick.label)\(index == ticks.count - 1 ? " s" : "")</text>"
    }
    return markup
  }

  private func line(_ name: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double)
    -> String
  {
    "<line class=\"\(name)\" x1=\"\(Self.text(x1))\" y1=\"\(Self.text(y1))\" "
      + "x2=\"\(Self.text(x2))\" y2=\"\(Self.text(y2))\"/>"
  }

  private var areas: String {
    let count = Int((Self.size.width - Self.margin.left - Self.margin.right) / Self.step)
    let times = (0...count).map { Double($0) / Double(count) * duration }
    let first = times.map { one.strength(at: $0) }
    let second = times.map { other.strength(at: $0 + shift) }
    let both = zip(first, second).map(min)
    var markup = area("both-area", times, both, over: nil)
    markup += area("a-area", times, first, over: second)
    markup += area("b-area", times, second, over: first)
    for (name, take, delay) in [("a-line", one, 0), ("b-line", other, shift)] {
      let tones = times.map { take.tone(at: $0 + delay) }
      let lines = tones.indices.runs { tones[$0] != nil }.map { run in
        "M" + run.map { place(times[$0], Self.toneY(tones[$0] ?? 0)) }.joined(separator: "L")
      }
      markup += "<path class=\"\(name)\" d=\"\(lines.joined())\"/>"
    }
    return markup
  }

  /// What is above another curve, or above the ground.
  private func area(_ name: String, _ times: [Double], _ values: [Double], over others: [Double]?)
    -> String
  {
    let runs = values.indices.runs { values[$0] > (others?[$0] ?? 0) + 0.005 }
    let path = runs.filter { $0.count > 1 }.map { run in
      let top = run.map { place(times[$0], Self.y(values[$0])) }
      let bottom = run.reversed().map { place(times[$0], Self.y(others?[$0] ?? 0)) }
      return "M" + (top + bottom).joined(separator: "L") + "Z"
    }.joined()
    return path.isEmpty ? "" : "<path class=\"\(name)\" d=\"\(path)\"/>"
  }

  private func transients(_ take: PageTake, class name: String, delay: Double) -> String {
    let transients = (take.events ?? []).filter { $0.kind.isTransient }.prefix(500)
    return transients.map { event in
      guard let point = event.points.first else { return "" }
      let place = x(point.time - delay)
      let heights = [Self.y(point.intensity), Self.toneY(point.sharpness)]
      let heads = heights.map {
        """
        <circle class=\"head \(name)\" cx=\"\(Self.text(place))\" cy=\"\(Self.text($0))\" \
        r=\"5\"/>
        """
      }
      return line("stem \(name)", place, Self.strengthLane.bottom, place, heights[0])
        + heads.joined()
    }.joined()
  }
}
