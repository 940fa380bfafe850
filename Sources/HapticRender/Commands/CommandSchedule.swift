internal import Synchronization

/// The commands that wait for their frame, in a heap: the earliest first, equals in the order they came.
@safe
struct CommandSchedule: ~Copyable {
  private let commands: UnsafeMutableBufferPointer<RenderCommand>
  private(set) var count = 0
  private var nextOrder: UInt64 = 0

  /// An empty schedule for a number of commands.
  init(capacity: Int) {
    unsafe commands = .allocate(capacity: capacity)
  }

  deinit { unsafe commands.deallocate() }

  /// The frame of the earliest command; the end of time where there is none.
  var nextTime: Int64 {
    @_noLocks get { unsafe count > 0 ? commands[0].time : .max }
  }

  /// Whether one more command fits.
  var hasRoom: Bool {
    @_noLocks get { unsafe count < commands.count }
  }

  /// Lets a command wait: O(log n).
  @_noLocks
  mutating func insert(_ command: RenderCommand) {
    guard hasRoom else { return }
    var place = count
    unsafe commands[place] = command
    unsafe commands[place].order = nextOrder
    nextOrder &+= 1
    count &+= 1
    while place > 0 {
      let parent = (place &- 1) / 2
      guard precedes(place, parent) else { return }
      swap(place, parent)
      place = parent
    }
  }

  /// Takes the earliest command: O(log n). There must be one.
  @_noLocks
  mutating func takeFirst() -> RenderCommand {
    let first = unsafe commands[0]
    count &-= 1
    unsafe commands[0] = commands[count]
    var place = 0
    while true {
      var least = place
      let left = 2 &* place &+ 1
      if left < count, precedes(left, least) { least = left }
      if left &+ 1 < count, precedes(left &+ 1, least) { least = left &+ 1 }
      if least == place { return first }
      swap(place, least)
      place = least
    }
  }

  /// Empties the commands for a player, which stay as gaps until their time: O(n).
  @_noLocks
  mutating func drop(_ player: UnsafeMutablePointer<Player>?) {
    var index = 0
    while index < count {
      if let player = unsafe player, unsafe commands[index].player == player {
        switch unsafe commands[index].action {
        case .start:
          _ = unsafe player.pointee.status.pointee.droppedStartCount.wrappingAdd(
            1, ordering: .releasing)
        default: break
        }
        unsafe RenderCommand.release(commands[index].entry)
        unsafe commands[index].entry = nil
        unsafe commands[index].action = .none
        unsafe commands[index].player = nil
        _ = unsafe player.pointee.status.pointee.commandCount.wrappingAdd(
          1, ordering: .releasing)
      }
      index &+= 1
    }
  }

  @_noLocks
  private func precedes(_ one: Int, _ other: Int) -> Bool {
    let time = unsafe commands[one].time
    let otherTime = unsafe commands[other].time
    if time != otherTime { return time < otherTime }
    return unsafe commands[one].order < commands[other].order
  }

  @_noLocks
  private mutating func swap(_ one: Int, _ other: Int) {
    let command = unsafe commands[one]
    unsafe commands[one] = commands[other]
    unsafe commands[other] = command
  }
}

extension RenderCommand {
  /// Tells the control side that an entry is no longer read.
  @_noLocks
  static func release(_ entry: UnsafeMutablePointer<PlanEntry>?) {
    guard let entry = unsafe entry else { return }
    unsafe entry.pointee.isReleased.store(true, ordering: .releasing)
  }
}
