/// The profiles that come with Temblor, embedded so that they are found from any folder.
public enum ShippedProfiles {}
