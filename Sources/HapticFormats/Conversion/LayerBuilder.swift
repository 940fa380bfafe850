import HapticModel

/// Puts events that bring curves of their own into the fewest layers, so that no curve acts on an
/// event that is not its own.
///
/// Events without curves share the first layer. Those with curves are assigned like intervals to
/// colours: each to the layer that is free the longest, a new one where none is.
struct LayerBuilder {
  private struct Entry {
    var event: HapticEvent
    var curves: [ParameterCurve]
    var span: ClosedRange<Double>
  }

  private var entries: [Entry] = []

  /// Adds an event that no curve acts on; its number among all that are added.
  @discardableResult
  mutating func add(_ event: HapticEvent) -> Int {
    add(event, curves: [], until: event.time)
  }

  /// Adds an event with the curves that act on it alone; its number among all that are added.
  ///
  /// Each curve must start no later than the event. Curves of other events may follow from the end
  /// on, so `end` covers the release.
  @discardableResult
  mutating func add(_ event: HapticEvent, curves: [ParameterCurve], until end: Double) -> Int {
    entries.append(Entry(event: event, curves: curves, span: event.time...max(event.time, end)))
    return entries.count - 1
  }

  /// The layers, at least one, and the place of each added event in them.
  ///
  /// Takes time in proportion to the events and the logarithm of the layers.
  func build() -> (layers: [HapticComposition.Layer], references: [EventReference]) {
    var patterns: [HapticPattern] = []
    var references = Array(repeating: EventReference(event: 0), count: entries.count)
    let plain = entries.indices.filter { entries[$0].curves.isEmpty }
    if !plain.isEmpty { patterns.append(HapticPattern()) }
    for index in plain {
      references[index] = EventReference(layer: 0, event: patterns[0].events.count)
      patterns[0].events.append(entries[index].event)
    }
    let bent = entries.indices.filter { !entries[$0].curves.isEmpty }
      .sorted { (entries[$0].span.lowerBound, $0) < (entries[$1].span.lowerBound, $1) }
    var free = EndQueue()
    for index in bent {
      let entry = entries[index]
      let layer: Int
      if let first = free.first, first.end <= entry.span.lowerBound {
        layer = free.removeFirst().layer
      } else {
        layer = patterns.count
        patterns.append(HapticPattern())
      }
      references[index] = EventReference(layer: layer, event: patterns[layer].events.count)
      patterns[layer].events.append(entry.event)
      patterns[layer].curves += entry.curves
      free.insert((entry.span.upperBound, layer))
    }
    if patterns.isEmpty { patterns.append(HapticPattern()) }
    return (patterns.map { HapticComposition.Layer($0) }, references)
  }
}

/// Layers by the time at which they are free: a binary heap.
private struct EndQueue {
  private var heap: [(end: Double, layer: Int)] = []

  var first: (end: Double, layer: Int)? { heap.first }

  mutating func insert(_ element: (end: Double, layer: Int)) {
    heap.append(element)
    var index = heap.count - 1
    while index > 0, isBefore(index, (index - 1) / 2) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func removeFirst() -> (end: Double, layer: Int) {
    heap.swapAt(0, heap.count - 1)
    let first = heap.removeLast()
    var index = 0
    while true {
      let children = (2 * index + 1..<2 * index + 3).filter { $0 < heap.count }
      guard let child = children.min(by: { isBefore($0, $1) }), isBefore(child, index) else {
        return first
      }
      heap.swapAt(child, index)
      index = child
    }
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (heap[one].end, heap[one].layer) < (heap[other].end, heap[other].layer)
  }
}
