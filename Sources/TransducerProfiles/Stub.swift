public import HapticRender
public struct ProfileError: Error {}
public enum ProfileCatalog {
  public static var names: [String] { ["phone"] }
  public static func profile(named: String) -> TransducerProfile? {
    named == "phone" ? .phone : nil
  }
}
public enum ProfileFile {
  public static func read(text: [UInt8], name: String) throws(ProfileError) -> TransducerProfile {
    .phone
  }
  public static func write(_ p: TransducerProfile) -> [UInt8] { [] }
}
