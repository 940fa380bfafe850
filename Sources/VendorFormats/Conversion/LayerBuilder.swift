internal import HapticFormats
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
    var end: Double
  }

  /// Events without curves.
  private var plain: [HapticEvent] = []
  /// Events with curves.
  private var bent: [Entry] = []
  /// Of each added event: layer 0 and its number in `plain`, or layer 1 and its number in `bent`.
  private var added: [EventReference] = []

  /// Adds an event that no curve acts on; its number among all that are added.
  @discardableResult mutating func add(_ event: HapticEvent) -> Int {
    added.append(EventReference(layer: 0, event: plain.count))
    plain.append(event)
    return added.count - 1
  }

  /// Adds an event with the curves that act on it alone; its number among all that are added.
  ///
  /// Each curve must start no later than the event. Curves of other events may follow from the end
  /// on, so `end` covers the release.
  @discardableResult mutating func add(_ event: HapticEvent, curves: [ParameterCurve], until end: Double) -> Int {
    if curves.isEmpty { return add(event) }
    added.append(EventReference(layer: 1, event: bent.count))
    bent.append(Entry(event: event, curves: curves, end: max(event.time, end)))
    return added.count - 1
  }

  /// The layers, at least one, and the place of each added event in them.
  ///
  /// Takes time in proportion to the events and the logarithm of the layers.
  func build() -> (layers: [HapticComposition.Layer], references: [EventReference]) {
    var order = Array(bent.indices)
    let isSorted = zip(order, order.dropFirst()).allSatisfy { bent[$0].event.time <= bent[$1].event.time }
    if !isSorted { order.sort { (bent[$0].event.time, $0) < (bent[$1].event.time, $1) } }
    let first = plain.isEmpty ? 0 : 1
    var places = Array(repeating: EventReference(event: 0), count: bent.count)
    var counts: [Int] = []
    var free = EndQueue()
    for index in order {
      let layer: Int
      if let next = free.first, next.end <= bent[index].event.time {
        layer = next.layer
        free.replaceFirst((bent[index].end, layer))
      } else {
        layer = counts.count
        counts.append(0)
        free.insert((bent[index].end, layer))
      }
      places[index] = EventReference(layer: first + layer, event: counts[layer])
      counts[layer] += 1
    }
    var patterns = plain.isEmpty ? [] : [HapticPattern(events: plain)]
    for count in counts {
      patterns.append(HapticPattern())
      patterns[patterns.count - 1].events.reserveCapacity(count)
      patterns[patterns.count - 1].curves.reserveCapacity(count)
    }
    for index in order {
      patterns[places[index].layer].events.append(bent[index].event)
      patterns[places[index].layer].curves += bent[index].curves
    }
    if patterns.isEmpty { patterns.append(HapticPattern()) }
    return (patterns.map { HapticComposition.Layer($0) }, added.map { $0.layer == 0 ? $0 : places[$0.event] })
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

  /// Puts another time in the place of the first.
  mutating func replaceFirst(_ element: (end: Double, layer: Int)) {
    heap[0] = element
    var index = 0
    while 2 * index + 1 < heap.count {
      var child = 2 * index + 1
      if child + 1 < heap.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, index) else { return }
      heap.swapAt(child, index)
      index = child
    }
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (heap[one].end, heap[one].layer) < (heap[other].end, heap[other].layer)
  }
}
