public import HapticRender

/// The profiles that come with Temblor, embedded so that they are found from any folder.
public enum ProfileCatalog {
  /// Their names: the default, the one for listening, real transducers, others' mappings.
  public static let names = texts.map(\.name)

  /// A profile, or nothing where none has the name; its text is read at every call.
  public static func profile(named name: String) -> TransducerProfile? {
    guard let text = text(named: name) else { return nil }
    // The tests read every shipped text.
    return try? ProfileFile.read(text: text, name: name)
  }

  /// The JSON text of a profile, or nothing where none has the name.
  public static func text(named name: String) -> [UInt8]? { texts.first { $0.name == name }?.text }

  private static var texts: [(name: String, text: [UInt8])] {
    [
      ("phone", PackageResources.phone_json), ("speaker", PackageResources.speaker_json),
      ("actronika-hfba121238", PackageResources.actronika_hfba121238_json),
      ("alps-aft14a903a", PackageResources.alps_aft14a903a_json),
      ("aura-ast-2b-4", PackageResources.aura_ast_2b_4_json),
      ("buttkicker-advance", PackageResources.buttkicker_advance_json),
      ("buttkicker-gamer2", PackageResources.buttkicker_gamer2_json),
      ("buttkicker-lfe", PackageResources.buttkicker_lfe_json),
      ("buttkicker-mini-lfe", PackageResources.buttkicker_mini_lfe_json),
      ("clark-aw339", PackageResources.clark_aw339_json), ("dayton-bst-1", PackageResources.dayton_bst_1_json),
      ("dayton-bst-300ex", PackageResources.dayton_bst_300ex_json),
      ("dayton-tt25-16", PackageResources.dayton_tt25_16_json), ("dayton-tt25-8", PackageResources.dayton_tt25_8_json),
      ("dualsense", PackageResources.dualsense_json), ("eai-c-mf", PackageResources.eai_c_mf_json),
      ("visaton-ex60s", PackageResources.visaton_ex60s_json),
      ("vybronics-vg0832013d", PackageResources.vybronics_vg0832013d_json),
      ("vybronics-vg1040003d", PackageResources.vybronics_vg1040003d_json),
      ("vybronics-vg2080001-175h", PackageResources.vybronics_vg2080001_175h_json),
      ("vybronics-vg2230001h", PackageResources.vybronics_vg2230001h_json),
      ("vybronics-vlv101040a", PackageResources.vybronics_vlv101040a_json),
      ("vybronics-vlv281813-65h", PackageResources.vybronics_vlv281813_65h_json), ("mpeg", PackageResources.mpeg_json),
      ("meta-quest", PackageResources.meta_quest_json), ("pulsar", PackageResources.pulsar_json),
      ("android", PackageResources.android_json),
    ]
  }
}
