/// The parameter values one event was given: a small dictionary that never allocates.
public struct EventParameters: Equatable, Sendable {
  /// One lane for each identifier; lanes that were not given are zero, so that equality is lane-wise.
  private var values = SIMD16<Float>.zero
  private var given: UInt16 = 0

  /// Makes a set in which nothing is given.
  public init() {}

  /// Makes a set of the given values; the last of two for one identifier counts.
  public init(_ values: [EventParameterID: Float]) {
    for (id, value) in values { self[id] = value }
  }

  /// The value given for an identifier, unclamped, or nothing.
  public subscript(id: EventParameterID) -> Float? {
    get { given & id.bit == 0 ? nil : values[id.index] }
    set {
      values[id.index] = newValue ?? 0
      if newValue == nil { given &= ~id.bit } else { given |= id.bit }
    }
  }

  /// The identifiers that were given, in declaration order.
  public var identifiers: [EventParameterID] {
    EventParameterID.allCases.filter { given & $0.bit != 0 }
  }
}

extension EventParameters: ExpressibleByDictionaryLiteral {
  /// Makes a set of the given values; the last of two for one identifier counts.
  public init(dictionaryLiteral elements: (EventParameterID, Float)...) {
    for (id, value) in elements { self[id] = value }
  }
}
