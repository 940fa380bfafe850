/// A cache of limited size, which removes the least recently used value first.
struct LRUCache<Key: Hashable, Value> {
  private let capacity: Int
  private var entries: [Key: (value: Value, use: Int)] = [:]
  private var useCount = 0

  init(capacity: Int) { self.capacity = max(1, capacity) }
  var count: Int { entries.count }

  mutating func value(for key: Key) -> Value? {
    useCount += 1
    entries[key]?.use = useCount
    return entries[key]?.value
  }

  /// Inserts a value, and removes the least recently used value if there are too many.
  mutating func insert(_ value: Value, for key: Key) {
    useCount += 1
    entries[key] = (value, useCount)
    if entries.count > capacity,
      let leastRecentlyUsed = entries.min(by: { $0.value.use < $1.value.use })
    {
      entries[leastRecentlyUsed.key] = nil
    }
  }

  mutating func removeValue(for key: Key) { entries[key] = nil }
}
