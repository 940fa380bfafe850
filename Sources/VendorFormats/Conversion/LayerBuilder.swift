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

  private var plain: [HapticEvent] = []
  private var curved: [Entry] = []
  /// Of each added event: layer 0 and its number in `plain`, or layer 1 and its number in `curved`.
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
    added.append(EventReference(layer: 1, event: curved.count))
    curved.append(Entry(event: event, curves: curves, end: max(event.time, end)))
    return added.count - 1
  }

  /// The layers, at least one, and the place of each added event in them.
  ///
  func build() -> (layers: [HapticComposition.Layer], references: [EventReference]) {
    var order = Array(curved.indices)
    let isSorted = zip(order, order.dropFirst()).allSatisfy { curved[$0].event.time <= curved[$1].event.time }
    if !isSorted { order.sort { (curved[$0].event.time, $0) < (curved[$1].event.time, $1) } }
    let first = plain.isEmpty ? 0 : 1
    var places = Array(repeating: EventReference(event: 0), count: curved.count)
    var counts: [Int] = []
    // Layers by the time at which they are free.
    var free: [(end: Double, layer: Int)] = []
    for index in order {
      var layer = counts.count
      if let last = free.last, last.end <= curved[index].event.time {
        layer = last.layer
        free.removeLast()
      } else {
        counts.append(0)
      }
      // The first to be free is the last of the list, the lowest of several.
      let entry = (end: curved[index].end, layer: layer)
      var (low, high) = (0, free.count)
      while low < high {
        let middle = (low + high) / 2
        if (free[middle].end, free[middle].layer) > (entry.end, entry.layer) { low = middle + 1 } else { high = middle }
      }
      free.insert(entry, at: low)
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
      patterns[places[index].layer].events.append(curved[index].event)
      patterns[places[index].layer].curves += curved[index].curves
    }
    if patterns.isEmpty { patterns.append(HapticPattern()) }
    return (patterns.map { HapticComposition.Layer($0) }, added.map { $0.layer == 0 ? $0 : places[$0.event] })
  }
}
