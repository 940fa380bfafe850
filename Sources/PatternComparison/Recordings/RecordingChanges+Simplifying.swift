import SignalAnalysis

extension RecordingChanges {
  /// The most rounds in which frequencies and the place are bettered by turns.
  private static let greatestPolish = 6
  /// The most changes of which each is tried without.
  private static let greatestCount = 4

  /// Betters the frequencies and times that were found: at first, the place is still held by what changed.
  mutating func polish() {
    for _ in 0..<Self.greatestPolish {
      var isBetter = false
      for position in changes.indices where changes[position].kind == .frequency {
        guard let index = effects[position].stem,
          let better = frequency(trials(of: index), near: 1 + changes[position].amount / 100)
        else { continue }
        fit.reference.stems[index] = better.stem
        changes[position].amount = 100 * (better.ratio - 1)
        changes[position].before = better.before
        changes[position].after = better.after
        isBetter = true
      }
      for position in changes.indices where changes[position].kind == .time {
        guard let index = effects[position].stem, let better = time(trials(of: index), near: changes[position].amount)
        else { continue }
        fit.reference.stems[index] = better.stem
        changes[position].after = (changes[position].before ?? 0) + better.shift
        changes[position].amount = better.shift
        isBetter = true
      }
      guard isBetter else { return }
      fit.refine(rounds: 1)
      settle()
    }
  }

  /// Takes back each change without which the others explain all as well.
  ///
  /// What was found first was found while the rest was still wrong.
  mutating func simplify() {
    guard changes.count <= Self.greatestCount else { return }
    var isSimpler = true
    while isSimpler, changes.count > 1 {
      isSimpler = false
      for position in changes.indices {
        var other = self
        other.remove(position)
        other.loosen()
        other.fit.refine(rounds: 1)
        other.settle()
        other.polish()
        guard other.surplus(sigma) - surplus(sigma) < slack(position) else { continue }
        self = other
        isSimpler = true
        break
      }
    }
  }

  /// Lets the place be held by events that sound as they should.
  mutating func loosen() {
    fit.loose = Set(
      zip(changes, effects).compactMap { change, effect in
        change.kind == .frequency || change.kind == .time ? effect.stem : nil
      })
  }

  /// Gives events of another frequency or time the level of the whole where that explains all as
  /// well: else the level of the whole would be that of the others alone.
  mutating func levelOut() {
    let variants = EventVariants(reference: original)
    for position in changes.indices {
      guard let index = effects[position].stem else { continue }
      let amount = changes[position].amount
      let plain: Stem? =
        switch changes[position].kind {
        case .frequency: variants.frequency(of: index, times: 1 + amount / 100)?.stem
        case .time: variants.time(of: index, later: amount)
        default: nil
        }
      guard let plain else { continue }
      var other = self
      other.fit.reference.stems[index] = plain
      other.fit.refine(rounds: 2)
      other.settle()
      if other.surplus(sigma) - surplus(sigma) < slack(position) { self = other }
    }
  }

  /// Leaves out what is too little to be reported, however sure it is.
  mutating func removeTrifles() {
    for position in changes.indices.reversed()
    where changes[position].kind == .frequency && abs(changes[position].amount) < RecordingThreshold.percent {
      remove(position)
      loosen()
      fit.refine(rounds: 2)
      settle()
      polish()
    }
  }

  private mutating func remove(_ position: Int) {
    if let index = effects[position].stem { fit.reference.stems[index] = original.stems[index] }
    changes.remove(at: position)
    effects.remove(at: position)
    fit.excluded = additions
  }

  /// How much more there is left than noise, in multiples of its power.
  private func surplus(_ sigma: Double) -> Double {
    var isFilled = [Bool](repeating: false, count: rest.count)
    for range in effects.compactMap(\.filled) { for index in range { isFilled[index] = true } }
    return Samples.energy(rest) / (sigma * sigma) - Double(isFilled.count { !$0 })
  }

  /// How much more may be left without a change: what chance and the model's errors make.
  private func slack(_ position: Int) -> Double {
    let count = Double(effects[position].filled?.count ?? 0)
    return RecordingThreshold.z * RecordingThreshold.z + 3 * (2 * count).squareRoot() + RecordingThreshold.share
      * effects[position].explained.improvement
  }
}
