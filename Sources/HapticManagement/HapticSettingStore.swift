public import Foundation

/// Where a manager remembers its switch from one run to the next.
public protocol HapticSettingStore: AnyObject {
  /// What was remembered, or nothing.
  func isOn(_ key: String) -> Bool?
  /// Remembers.
  func setOn(_ isOn: Bool, for key: String)
}

extension UserDefaults: HapticSettingStore {
  /// What was remembered, or nothing where it is no truth value.
  public func isOn(_ key: String) -> Bool? { object(forKey: key) as? Bool }

  /// Remembers, on the disk too.
  public func setOn(_ isOn: Bool, for key: String) {
    set(isOn, forKey: key)
    _ = synchronize()
  }
}
