public import HapticModel
public import Reading

extension [[Int]] {
  /// Creates an array of event values for each layer.
  ///
  /// Events without a value get 0.
  package init(_ values: [Int], at references: [EventReference]) {
    self = []
    for (value, event) in zip(values, references) {
      while count <= event.layerIndex {
        append([])
      }
      self[event.layerIndex] += repeatElement(
        0, count: Swift.max(event.eventIndex + 1 - self[event.layerIndex].count, 0))
      self[event.layerIndex][event.eventIndex] = value
    }
  }
}

/// A map from the elements of a composition to their locations in the source file.
public struct SourceMap: Sendable {
  /// Returns the location of an element.
  private let resolveLocation: @Sendable (CompositionElement) -> FileLocation

  /// Creates a map from a function that locates elements. For an element that was not read from a
  /// single value, the function returns the whole file.
  public init(_ resolve: @escaping @Sendable (CompositionElement) -> FileLocation) {
    self.resolveLocation = resolve
  }

  /// Returns the location of an element in the file.
  ///
  /// For an element that was not read from a single value, returns the whole file.
  public func location(of element: CompositionElement) -> FileLocation { resolveLocation(element) }

  /// Creates a map from the indices of the values that the elements were read from. An element
  /// without an index has the location of its layer or of the root.
  ///
  /// - Parameters:
  ///   - root: The index of the root value.
  ///   - layers: The value index of each layer.
  ///   - events: The value index of each event, by layer.
  ///   - parameters: The value index of each parameter, by layer.
  ///   - curves: The value index of each curve, by layer.
  ///   - location: Returns the location of the value with an index.
  package init(
    root: Int = 0, layers: [Int] = [], events: [[Int]] = [], parameters: [[Int]] = [],
    curves: [[Int]] = [],
    location: @escaping @Sendable (_ value: Int) -> FileLocation
  ) {
    self.init { element in
      func valueIndex(in lists: [[Int]], _ layer: Int, _ index: Int) -> Int {
        if lists.indices.contains(layer), lists[layer].indices.contains(index) {
          return lists[layer][index]
        }
        return layers.indices.contains(layer) ? layers[layer] : root
      }
      return switch element {
      case .composition: location(root)
      case .layer(let layer): location(valueIndex(in: [], layer, 0))
      case .event(let event): location(valueIndex(in: events, event.layerIndex, event.eventIndex))
      case .parameter(let layer, let index): location(valueIndex(in: parameters, layer, index))
      case .curve(let layer, let index): location(valueIndex(in: curves, layer, index))
      }
    }
  }

  /// Returns a map for a composition that was created in code. A location consists only of a path,
  /// such as `events[3]`, preceded by the layer index unless the layer is the first.
  ///
  /// - Parameter name: The composition name in messages.
  public static func inMemory(name: String) -> SourceMap {
    @Sendable func elementPath(_ layer: Int, _ list: String, _ index: Int) -> String {
      (layer == 0 ? "" : "layers[\(layer)].") + "\(list)[\(index)]"
    }
    return SourceMap { element in
      let locationPath =
        switch element {
        case .composition: ""
        case .layer(let layer): "layers[\(layer)]"
        case .event(let event): elementPath(event.layerIndex, "events", event.eventIndex)
        case .parameter(let layer, let index): elementPath(layer, "parameters", index)
        case .curve(let layer, let index): elementPath(layer, "curves", index)
        }
      return FileLocation(name: name, path: locationPath)
    }
  }
}

extension FindingLog {
  /// Returns the findings that the options request: all, or only errors and ignored parameters.
  ///
  /// - Parameters:
  ///   - options: The reading options.
  ///   - location: Returns the location of a value at an offset.
  package func findings(
    for options: ReadingOptions, location: (_ value: Int, _ offset: Int) -> FileLocation
  ) -> [Finding] {
    if options.wantsFindings { return findings(location: location) }
    guard errorCount > 0 || contains(.unknownParameter) else { return [] }
    return findings(location: location).filter {
      $0.severity == .error || $0.rule == Rule.unknownParameter.id
    }
  }

  /// Adds a finding for each deviation of a JSON document from strict JSON.
  ///
  /// - Parameters:
  ///   - json: The parsed JSON document.
  ///   - byteOrderMark: The rule that a byte-order mark violates.
  ///   - trailingComma: The rule that a trailing comma violates.
  ///   - duplicateKey: The rule that a duplicate key violates.
  package mutating func addSyntaxDeviations(
    of json: JSONDocument, byteOrderMark: Rule, trailingComma: Rule, duplicateKey: Rule
  ) {
    for deviation in json.deviations {
      let value = json.value(of: deviation)
      switch deviation.kind {
      case .byteOrderMark:
        add(
          byteOrderMark, at: value, offset: 0, "the text starts with a byte-order mark",
          suggestion: "save it as UTF-8 without one")
      case .trailingComma:
        add(
          trailingComma, at: value, offset: deviation.byteOffset, "comma before a closing bracket",
          suggestion: "remove it")
      case .duplicateKey:
        add(
          duplicateKey, at: value, offset: deviation.byteOffset,
          "duplicate key \((value.key ?? "").quoted()); the last value is used")
      }
    }
  }
}
