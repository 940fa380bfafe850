internal import RealtimeMemory
internal import Synchronization

/// The commands that wait for their frame, in a heap: the earliest first, equals in the order they came.
struct CommandSchedule: ~Copyable {
  private let commands: FixedBuffer<RenderCommand>
  private(set) var count = 0
  private var nextOrder: UInt64 = 0

  /// An empty schedule for a number of commands.
  init(capacity: Int) { commands = FixedBuffer(repeating: RenderCommand(.nothing, at: 0), count: capacity) }

  /// The frame of the earliest command; the end of time where there is none.
  var nextTime: Int64 { @_noLocks get { count > 0 ? commands[0].time : .max } }

  /// Whether one more command fits.
  var hasRoom: Bool { @_noLocks get { count < commands.count } }

  /// Lets a command wait: O(log n).
  @_noLocks mutating func insert(_ command: RenderCommand) {
    guard hasRoom else { return }
    var place = count
    commands[place] = command
    commands[place].order = nextOrder
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
  @_noLocks mutating func takeFirst() -> RenderCommand {
    let first = commands[0]
    count &-= 1
    commands[0] = commands[count]
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
  @_noLocks mutating func drop(_ player: PlayerReference) {
    var index = 0
    while index < count {
      switch commands[index].change {
      case .player(let owner, let change) where owner.isSame(as: player):
        if change.isStart { player.value.noteDroppedStart() }
        change.release()
        commands[index].change = .nothing
        player.value.noteCommandDone()
      case .nothing, .gain, .player: break
      }
      index &+= 1
    }
  }

  @_noLocks private func precedes(_ one: Int, _ other: Int) -> Bool {
    let time = commands[one].time
    let otherTime = commands[other].time
    if time != otherTime { return time < otherTime }
    return commands[one].order < commands[other].order
  }

  @_noLocks private mutating func swap(_ one: Int, _ other: Int) {
    let command = commands[one]
    commands[one] = commands[other]
    commands[other] = command
  }
}

extension RenderCommand.PlayerChange {
  var isStart: Bool { @_noLocks get { if case .start = self { true } else { false } } }
}

extension Player {
  /// Counts a command that was done or dropped, for the control side.
  @_noLocks func noteCommandDone() { _ = status.value.commandCount.wrappingAdd(1, ordering: .releasing) }

  /// Counts a start that will not happen.
  @_noLocks func noteDroppedStart() { _ = status.value.droppedStartCount.wrappingAdd(1, ordering: .releasing) }
}
