import HapticModel
import HapticRender

/// What is said of a dynamic parameter that is not the same in two patterns.
struct ControlSentence {
  let attribute: ControlAttribute
  /// What the sentence calls the parameter: `intensity`, `layer 2 intensity`.
  let word: String
  let owner: String
  let reference: String
  let gap: ControlTimeline.Gap
  /// How far the lines are apart where they are farthest, in the quality's unit.
  let amount: Double

  init(
    id: DynamicParameterID, layer: String?, profile: TransducerProfile, options: ComparisonOptions,
    gap: ControlTimeline.Gap
  ) {
    attribute = ControlAttribute(id)
    word = (layer.map { $0 + " " } ?? "") + attribute.word
    owner = options.otherLabel
    reference = options.referenceLabel
    self.gap = gap
    amount = attribute.amount(gap.before, gap.after, profile)
  }

  private func difference(
    _ kind: Difference.Kind, _ sentence: String, before: Double? = nil, after: Double? = nil, amount: Double? = nil,
    unit: Difference.Unit? = nil
  ) -> Difference {
    Difference(
      kind, in: gap.range, amount: amount ?? self.amount, unit: unit ?? attribute.unit, before: before ?? gap.before,
      after: after ?? gap.after, significance: JustNoticeableDifference.count(in: self.amount, attribute.unit),
      sentence: sentence)
  }

  /// The difference when one step or curve alone is not the same.
  func difference(_ item: ControlItem?, _ partner: ControlItem?) -> Difference? {
    let effect = attribute.effect(amount)
    let extent = attribute.extent(amount)
    switch (item, partner) {
    case (nil, let added?):
      let time = SentenceFormatting.moment(added.time)
      return added.isCurve
        ? difference(.curve, "\(owner) has an extra \(word) curve from \(time): \(extent).")
        : difference(.parameter, "\(owner) sets \(word) to \(value(added)) at \(time): \(effect).")
    case (let missing?, nil):
      let time = SentenceFormatting.moment(missing.time)
      return missing.isCurve
        ? difference(.curve, "\(owner) lacks \(reference)'s \(word) curve at \(time): \(extent).")
        : difference(.parameter, "\(owner) does not set \(word) to \(value(missing)) at \(time): \(effect).")
    case (let item?, let partner?): return change(item, partner)
    default: return nil
    }
  }

  private func value(_ step: ControlItem) -> String {
    SentenceFormatting.number(Double(step.points.first?.value ?? 0), places: 3)
  }

  private func change(_ item: ControlItem, _ partner: ControlItem) -> Difference? {
    let kind: Difference.Kind = item.isCurve ? .curve : .parameter
    let noun = item.isCurve ? "curve" : "step"
    if item.isLike(partner) {
      let shift = partner.time - item.time
      return difference(
        kind,
        "\(owner)'s \(word) \(noun) comes \(SentenceFormatting.shift(shift)), at "
          + "\(SentenceFormatting.moment(partner.time)).", before: item.time, after: partner.time, amount: shift,
        unit: .seconds)
    }
    guard ControlItem.same(item.time, partner.time) else { return nil }
    guard item.isCurve else {
      let before = Double(item.points.first?.value ?? 0)
      let after = Double(partner.points.first?.value ?? 0)
      return difference(
        kind,
        "\(owner)'s \(word) step at \(SentenceFormatting.moment(item.time)) is "
          + "\(attribute.effect(amount)): \(SentenceFormatting.value(after, insteadOf: before)).", before: before,
        after: after)
    }
    return pointChange(item, partner)
  }

  /// The difference when one corner of a curve alone is not the same.
  private func pointChange(_ item: ControlItem, _ partner: ControlItem) -> Difference? {
    guard item.points.count == partner.points.count else { return nil }
    let moved = item.points.indices.filter { index in
      let (a, b) = (item.points[index], partner.points[index])
      return !ControlItem.same(a.time, b.time) || abs(a.value - b.value) >= 1e-5
    }
    guard moved.count == 1, let index = moved.first else { return nil }
    let (a, b) = (item.points[index], partner.points[index])
    let name = SentenceFormatting.ordinal(index + 1).map { "\($0) point" } ?? "point \(index + 1)"
    let subject = "The \(name) of \(owner)'s \(word) curve"
    let extent = attribute.extent(amount)
    if abs(a.value - b.value) < 1e-5 {
      let shift = b.time - a.time
      return difference(
        .curve,
        "\(subject) comes \(SentenceFormatting.shift(shift)), at \(SentenceFormatting.moment(partner.time + b.time)): up to "
          + "\(attribute.distance(amount)).", before: item.time + a.time, after: partner.time + b.time, amount: shift,
        unit: .seconds)
    }
    let values = SentenceFormatting.value(Double(b.value), insteadOf: Double(a.value))
    guard ControlItem.same(a.time, b.time) else {
      return difference(
        .curve, "\(subject) is moved to \(values) at \(SentenceFormatting.moment(partner.time + b.time)).")
    }
    return difference(
      .curve, "\(subject), at \(SentenceFormatting.moment(item.time + a.time)), is \(values): \(extent).",
      before: Double(a.value), after: Double(b.value))
  }

  /// The difference when several steps, curves or corners are not the same.
  func difference(count: Int, areCurves: Bool) -> Difference {
    let noun = areCurves ? "curve" : "control"
    let range = SentenceFormatting.range(gap.range)
    let extent = attribute.extent(amount)
    return difference(
      areCurves ? .curve : .parameter,
      "\(owner)'s \(word) \(noun)\(count > 1 ? "s differ" : " differs") between \(range): "
        + "\(extent) at \(SentenceFormatting.moment(gap.peak)).")
  }
}

/// A step or a curve of one dynamic parameter, as an author wrote it.
struct ControlItem {
  /// Seconds from the start of the pattern.
  var time: Double
  /// Its corners, with times from its own start; a step has one.
  var points: [ParameterCurve.ControlPoint]
  var isCurve: Bool

  /// A pattern's steps and curves of one parameter by time.
  static func list(_ id: DynamicParameterID, of pattern: HapticPattern) -> [ControlItem] {
    let steps = pattern.parameters.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: [.init(time: 0, value: $0.value)], isCurve: false)
    }
    let curves = pattern.curves.filter { $0.id == id }.map {
      ControlItem(time: $0.time, points: $0.controlPoints, isCurve: true)
    }
    return (steps + curves).sorted { $0.time < $1.time }
  }

  /// Whether the corners are the same, wherever it begins.
  func isLike(_ other: ControlItem) -> Bool {
    isCurve == other.isCurve && points.count == other.points.count
      && zip(points, other.points).allSatisfy { Self.same($0.time, $1.time) && abs($0.value - $1.value) < 1e-5 }
  }

  /// Whether two times are one.
  static func same(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= EventMatch.leastTime }

  /// What pairing it with another costs: 0 for equals, 1 for what lies a second apart.
  func cost(of other: ControlItem) -> Double {
    guard isCurve == other.isCurve else { return .infinity }
    let value = abs(Double((points.first?.value ?? 0) - (other.points.first?.value ?? 0)))
    return abs(time - other.time) + (isLike(other) ? 0 : 0.1 + min(0.5, value / 4))
  }
}
