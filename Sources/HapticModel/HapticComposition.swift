/// Layers that sound together, as a file of any format holds them.
///
/// Parameters and curves act on the events of their own layer alone. An AHAP file is one layer.
public struct HapticComposition: Equatable, Sendable {
  /// One pattern of a composition.
  public struct Layer: Equatable, Sendable {
    /// Events with the parameters and curves that act on them.
    public var pattern: HapticPattern
    /// What the file calls the layer; empty where it has no name.
    public var name: String

    /// Makes a layer.
    public init(_ pattern: HapticPattern, name: String = "") {
      self.pattern = pattern
      self.name = name
    }
  }

  /// Where a loop begins and ends, in seconds.
  public struct LoopPoints: Equatable, Sendable {
    /// Where further passes begin.
    public var start: Double
    /// Where a pass ends, or nil for the end of the composition.
    public var end: Double?

    /// Makes loop points; nothing is checked.
    public init(start: Double = 0, end: Double? = nil) {
      self.start = start
      self.end = end
    }
  }

  /// The layers; at least one.
  public var layers: [Layer]
  /// Where a loop begins and ends, or nil for the whole composition.
  public var loop: LoopPoints?
  /// The title, or nil.
  public var title: String?
  /// What the author says about it, or nil.
  public var notes: String?

  /// Makes a composition of layers.
  public init(
    layers: [Layer], loop: LoopPoints? = nil, title: String? = nil, notes: String? = nil
  ) {
    self.layers = layers
    self.loop = loop
    self.title = title
    self.notes = notes
  }

  /// Makes a composition of one pattern.
  public init(_ pattern: HapticPattern) { self.init(layers: [Layer(pattern)]) }

  /// Seconds until the last layer's duration is over.
  public var duration: Double { layers.map(\.pattern.duration).max() ?? 0 }
}

/// The number of an event: its layer and its place among that layer's events.
public struct EventReference: Hashable, Comparable, Sendable {
  /// The index of the layer.
  public var layer: Int
  /// The index of the event in the layer.
  public var event: Int

  /// Makes a reference.
  public init(layer: Int = 0, event: Int) {
    self.layer = layer
    self.event = event
  }

  /// Layer by layer, event by event.
  public static func < (one: EventReference, other: EventReference) -> Bool {
    (one.layer, one.event) < (other.layer, other.event)
  }
}
