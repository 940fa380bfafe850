/// Values by their keys, of which only those used last are kept.
struct LRUCache<Key: Hashable, Value> {
  private let capacity: Int
  private var entries: [Key: (value: Value, use: Int)] = [:]
  private var useCount = 0

  /// Nothing yet, and space for some values.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  var count: Int { entries.count }

  mutating func value(_ key: Key) -> Value? {
    useCount += 1
    entries[key]?.use = useCount
    return entries[key]?.value
  }

  /// Keeps a value; where there are too many, the one that was not used for longest goes.
  mutating func keep(_ value: Value, for key: Key) {
    useCount += 1
    entries[key] = (value, useCount)
    if entries.count > capacity, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
      entries[oldest.key] = nil
    }
  }

  mutating func forget(_ key: Key) { entries[key] = nil }
}
