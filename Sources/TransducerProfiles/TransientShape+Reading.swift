import HapticRender
import JSONText

extension TransientShape {
  /// Reads the bursts; what is left out is as in another law.
  init(known value: JSONValue, otherwise usual: TransientShape) {
    self = usual
    if let law = value["frequency"] { frequency = FrequencyMapping(known: law) }
    length = Length(known: value)
    level = value.number("level") ?? level
    floor = value.number("floor") ?? floor
    partials = value.list("partials", Partial.init(known:)) ?? partials
    squareness = value.span("squareness") ?? squareness
    attack = value.number("attack")
    release = value.number("release")
  }
}

extension TransientShape.Length {
  fileprivate init(known value: JSONValue) {
    if let ends = value["seconds"] {
      self = .seconds(low: ends.known("low"), high: ends.known("high"))
      return
    }
    self = TransientShape.defaultLength
    guard case .cycles(let count, let range) = self else { return }
    let shortest = value.number("shortest") ?? range.lowerBound
    let longest = value.number("longest") ?? range.upperBound
    self = .cycles(value.number("cycles") ?? count, seconds: shortest...longest)
  }
}

extension TransientShape.Partial {
  fileprivate init(known value: JSONValue) {
    self.init()
    ratio = value.number("ratio") ?? ratio
    gain = value.number("gain") ?? gain
    glide = value.number("glide") ?? glide
    stretch = value.number("stretch") ?? stretch
  }
}
